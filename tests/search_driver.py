"""A process that searches one session again and again, and says what was wrong with an answer.

    python -m tests.search_driver DATA_DIR SESSION FILES

Opens the session anew for each search, as a process of its own would; ends when standard input is closed, and then
prints how many searches it made.
"""

import select
import sys

from ragcli.session.manager import SessionManager
from tests.generations import check_one_generation


def main(data: str, session: str, files: int) -> None:
    """Search until told to stop."""
    searches = 0
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], 0)[0]:
        check_one_generation(SessionManager(data).get_rag(session), files)
        searches += 1
    print(searches)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
