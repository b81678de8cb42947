"""A line to a server that can be cut: what comes in at one address goes out at another.

Its arguments: the address to listen at, and the port or the socket file of the server (`host:port` or `/path`). It
prints the port that it got. Stopped by SIGSTOP it is a network that swallows everything and says nothing.
"""

import asyncio
import sys


async def main(address: str, server: str) -> None:
    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await reach(server)
        except OSError:
            writer.close()
            return
        await asyncio.gather(carry(reader, back), carry(there, writer))

    listener = await asyncio.start_server(meet, address, 0)
    print(listener.sockets[0].getsockname()[1], flush=True)
    await listener.serve_forever()


async def reach(server: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if server.startswith("/"):
        return await asyncio.open_unix_connection(server)
    host, _, port = server.rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()


asyncio.run(main(*sys.argv[1:]))
