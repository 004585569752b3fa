"""The table of commands. A command's module is imported when the command is run, so that `--help` stays quick."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import NamedTuple

import click

from reportgen import __version__

EXIT_CODES = """\
\b
Exit codes:
  0    fine
  1    it looked and found something: a part that failed, a partial import, a verification or audit that differs,
       a regression under --fail-on
  2    wrong use or unreadable input
  3    the machine lacks something: a GPU, ncu, a permission, a package, a library, disk space
  130  stopped by Ctrl-C
"""


class Entry(NamedTuple):
    """Where a command's code stands, and its line in the list."""

    module: str
    help: str


COMMANDS = {
    "doctor": Entry("reportgen.cli.doctor", "Say what this machine can measure, and the mend for what it cannot."),
    "collect": Entry("reportgen.cli.collect", "Run suites under a backend and make a bundle of each."),
    "import": Entry("reportgen.cli.import_", "Make a bundle from profiling files made elsewhere."),
    "verify": Entry("reportgen.cli.verify", "Check that a bundle is still what was kept."),
    "samples": Entry("reportgen.cli.samples", "Print a bundle's samples or its processed table."),
    "render": Entry("reportgen.cli.render", "Render a bundle as an HTML and PDF dossier."),
    "audit": Entry("reportgen.cli.audit", "Compute every figure of a dossier again from its evidence."),
    "compare": Entry("reportgen.cli.compare", "Say what got slower between two collections, and whether it is real."),
    "styleguide": Entry("reportgen.cli.styleguide", "Show each element of a dossier once, by its name."),
    "build": Entry("reportgen.cli.build", "Build a static site from all bundles in it."),
    "serve": Entry("reportgen.cli.serve", "Show a built site on this machine."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the data's road."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name].module).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the one that was probably meant."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"No such command '{args[0]}': {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    name="reportgen",
    help=(
        "Turn GPU profiling evidence into dossiers that people may believe.\n\n"
        "\b\nExample:\n  reportgen import matmul.ncu-rep --out bundles\n  reportgen render bundles/matmul/* --out dossier"
    ),
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="reportgen", message="%(prog)s %(version)s")
def group() -> None:
    """Turn GPU profiling evidence into dossiers that people may believe."""


def example(*lines: str) -> str:
    """Return the epilog of a command: its example, line by line."""
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)
