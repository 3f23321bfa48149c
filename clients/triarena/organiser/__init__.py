"""Running tournaments: an administrator's client that reads a file, starts bots, has games played, keeps the score.

* The file: ``spec`` is what it means. ``file`` reads it: ``schema`` has the keys, ``events`` the tournaments,
  ``entrants`` the bots, ``contradictions`` what doesn't go together, ``positions`` lines, ``problems`` sentences.
* Before the first game: ``pairing`` (the format), ``durations``, ``dry_run``, ``trial``.
* Playing: ``campaign`` all tournaments of a file, ``runner`` one of them, ``attempt`` a game, ``arrivals`` who
  comes to it; ``waiting`` for those who don't, ``lost_processes`` and ``overlong`` games; ``stopping`` rules.
* The server: ``embedded`` is one of our own; ``desk`` and ``link`` are the connection to it, after a ``knock``.
* Processes: ``crew`` has the local bots; ``processes`` starts each under a ``guard``, with ``process_tree``,
  ``bounded_log`` and ``endings``.
* The record: ``folder``, ``claim``, ``store`` with ``store_file``, ``records`` and ``rows``; ``summary`` is what
  can be read of it without holding all games.
* Showing: ``report`` is how a tournament stands, ``rounds`` its games, ``comparison`` how two bots compare;
  ``wording``, ``live`` and ``export`` show it.
"""
