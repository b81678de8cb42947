"""What happens: one module per noun, one function per operation, one transaction each.

The engine decides and writes down what it decided, with its events, in the transaction that it is given. It starts no
process, opens no file, does not sleep, and gets the time as an argument.
"""

from ramet.engine.engine import Call, Engine, Ready

__all__ = ["Call", "Engine", "Ready"]
