"""Running tournaments: an administrator's client that reads a file, starts bots, has games played, and keeps the score.

* The file: ``spec`` is what it means. ``file`` reads it (``schema`` has the keys, ``events`` the tournaments,
  ``entrants`` the bots, ``contradictions`` what doesn't go together, ``positions`` the lines, ``problems`` the sentences).
* Before the first game: ``pairing`` (the format), ``durations``, ``dry_run``, ``trial``.
* Playing: ``campaign`` runs all tournaments of a file, ``runner`` one of them, ``attempt`` a game; ``stopping`` may end one.
* The server: ``embedded`` is one of our own; ``desk`` and ``link`` are the connection to it.
* Processes: ``crew`` has the local bots; ``processes`` starts each under a ``guard`` (``process_tree``, ``bounded_log``,
  ``endings``).
* The record: ``folder``, ``claim``, ``store`` (``store_file``, ``records``, ``rows``).
* Showing: ``report`` is how a tournament stands (``comparison`` of two bots); ``wording``, ``live`` and ``export`` show it.
"""
