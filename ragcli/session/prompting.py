"""A search's outcome as a prompt; a renderer that fails costs the evidence and never the question."""

from ragcli.errors import RagError
from ragcli.model import ContextPrompt, SearchOutcome


def prompt_of(
    query: str, outcome: SearchOutcome, max_tokens: int | None, *, allow_secrets: bool = False
) -> ContextPrompt:
    """The query behind fenced evidence; the query as it is where rendering fails, with a notice.

    UsageError where the query alone is over `max_tokens`.
    """
    from ragcli.prompt import estimate_tokens, render

    try:
        return render(query, outcome.results, max_tokens, allow_secrets=allow_secrets)._replace(notices=outcome.notices)
    except RagError:
        raise
    except Exception as error:
        import logging

        logging.getLogger(__name__).warning("the evidence could not be rendered", exc_info=True)
        notice = f"the evidence could not be rendered ({type(error).__name__}); the prompt is the question alone"
        return ContextPrompt(query, query, estimate_tokens(f"{query}\n"), [], [*outcome.notices, notice])
