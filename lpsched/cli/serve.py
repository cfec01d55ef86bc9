"""`lpsched serve`: the live page and the HTTP API."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from lpsched.cli import options
from lpsched.cli.console import console_of
from lpsched.serve.settings import Settings

USUAL = Settings()


def serve(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Bags of tasks for the page and for /metrics: .yaml or .json files.", readable=False),
    ] = None,
    *,
    open_page: Annotated[bool, typer.Option("--open", help="Open the live page in a browser.")] = False,
    host: Annotated[
        str, typer.Option(help="Address to listen on; other than this machine's needs --token.")
    ] = USUAL.host,
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for any free one.", min=0, max=65535)] = USUAL.port,
    token: Annotated[
        str | None,
        typer.Option(
            help="Token that requests of the API must carry, 16 characters or more; the variable hides it from others.",
            envvar="LPSCHED_TOKEN",
            show_default=False,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Name by which clients may reach the server.")
    ] = None,
    jobs: Annotated[
        Path | None,
        typer.Option(help="Folder for jobs and their answers; without one they end with the server.", readable=False),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Number of worker processes. [default: by cores]", min=1)] = None,
    time_limit: Annotated[float, options.time_limit_option("Time limit of one request, in seconds or with a unit.")] = (
        USUAL.seconds
    ),
    memory: Annotated[
        int, typer.Option(help="Memory limit of one worker in MB (Linux); 0 for none.", min=0)
    ] = USUAL.memory_megabytes,
    max_body: Annotated[
        float, typer.Option(help="Largest body of a request in MB.", min=0.001, max=64.0)
    ] = USUAL.body_megabytes,
    max_pairs: Annotated[
        int, typer.Option(help="Most pairs of task and machine types in a request.", min=1)
    ] = USUAL.pairs,
    max_queue: Annotated[int, typer.Option(help="Most requests that wait for a worker.", min=1)] = USUAL.queue,
    rate: Annotated[int, typer.Option(help="Most requests of one client in a minute.", min=1)] = USUAL.rate,
) -> None:
    """Serve the answers as a live page and an HTTP API.

    It listens on this machine only, unless there is a token. Needs the extra 'serve'.

    Examples
    --------
    lpsched serve instances/zeus-34x4.yaml --open
    lpsched serve --jobs ~/lpsched-jobs --workers 4
    """
    from lpsched.serve.server import serve as run_server

    settings = Settings(
        host=host,
        port=port,
        token=os.environ.get("LPSCHED_TOKEN") if token is None else token,  # an empty one is an error, not none
        allowed_hosts=tuple(allow_host or ()),
        folder=jobs,
        workers=workers or USUAL.workers,
        seconds=time_limit,
        memory_megabytes=memory,
        body_megabytes=max_body,
        pairs=max_pairs,
        queue=max_queue,
        rate=rate,
    )
    console = console_of(context)

    def announce(url: str) -> None:
        from importlib.metadata import version

        said = {"format": "lpsched-serve/1", "lpsched": version("lpsched"), "url": url, "docs": f"{url}docs"}
        console.answer(said, lines=[f"live page: {url}", f"API:       {url}docs", "Press Ctrl-C to stop."])
        import sys

        sys.stdout.flush()
        if open_page:
            import threading
            import webbrowser

            # beside the server: a browser in the terminal returns only when it is closed
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    run_server(settings, files or [], announce)
