"""The machine's answers: operations that read this machine's disk beside the database, one function each."""

from ramet.protocol.answers import Answers
from ramet.runner.machine import Machine

answers = Answers[Machine]("machine")
