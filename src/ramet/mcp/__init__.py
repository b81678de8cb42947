"""The tools that agents call, over the Model Context Protocol.

One small process for each agent, which its program starts: `python -m ramet.mcp`, on standard input and output. It
knows its session by the token in its environment, never by an argument, and asks the daemon like any client. Errors
are returned as data: an agent reads them and continues.
"""
