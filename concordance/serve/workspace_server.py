"""The server of a workspace: as that of one repository, with the repository's name as the first part of addresses.

In: requests. Out: replies of readers (`workspace_reader.py`). Which repository an address is about is decided by the
reader; the server only knows which addresses are questions, whose parameters matter.
"""

from __future__ import annotations

import os

from concordance.render.site.addresses import BLAME
from concordance.render.site.page_frame import SEARCH
from concordance.serve.messages import Question, ReaderReply
from concordance.serve.reader_pool import PAGE
from concordance.serve.server import Server


class WorkspaceServer(Server):
    """The server of a workspace."""

    async def _answer(self, address: str, query: str) -> ReaderReply:
        name, _, rest = address.partition("/")
        if name == "api":
            return await self._ask("ask", rest, query)
        if rest.startswith("api/"):
            return await self._ask("ask", f"{name}/{rest[4:]}", query)
        if address == SEARCH:
            return await self._ask("page", address, query)
        if address in self._assets:
            return self._assets[address]
        if not address or address.endswith("/"):
            address += "index.html"
        if address.endswith(BLAME):
            return await self._answer_blame(address)
        reply = self.cache.get(address)
        if reply is None:
            reply = await self.readers.ask(Question("page", os.fsencode(address)), PAGE)
            if reply.status == 200 and reply.version == self.readers.version:
                self.cache.put(address, reply)
        return reply
