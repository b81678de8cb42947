"""Who is asked: models of any provider, through pydantic-ai, which is imported only when there is something to ask.

It knows questions and answers. It knows no database, and what it is told of keys it tells nobody.
"""

from ramet.ai.models import Models

__all__ = ["Models"]
