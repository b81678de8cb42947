"""How efforts, sessions, runs, trees and histories look on a terminal."""
