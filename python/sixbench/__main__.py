"""The command line: python3 -m sixbench to_parquet DIR."""

import argparse
import sys

from .results import ResultsError, read


def main():
    """Runs one command; returns its exit code: 2 where the results cannot be read or written."""
    parser = argparse.ArgumentParser(prog="python3 -m sixbench", description="Reads the results of sixbench.")
    commands = parser.add_subparsers(dest="command", required=True)
    to_parquet = commands.add_parser("to_parquet", help="write the tables of a results directory as Parquet")
    to_parquet.add_argument("directory", help="the results directory")
    to_parquet.add_argument("-o", "--output", help="the folder of the files [default: DIRECTORY/exports/parquet]")
    arguments = parser.parse_args()
    try:
        for path in read(arguments.directory).to_parquet(arguments.output):
            print(path)
    except (ResultsError, ImportError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
