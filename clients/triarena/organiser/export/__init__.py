"""What whoever was not there gets of a tournament: a page, two tables, and a line of JSON per game.

All of it is made from a ``TournamentReport``, and so from the store and pure mathematics alone.

==================  ==================================================================================
module              is
==================  ==================================================================================
``writing``         writes all files of a tournament's folder
``publishing``      puts them in place, each at once or not at all, and no older ones over newer ones
``records``         the rows of ``games.csv``, ``standings.csv`` and ``games.jsonl``
``page``            ``index.html`` as a whole
``event_section``   what the page says of one event; ``standings_table``, ``cross_tables``, ``rounds``,
                    and ``rating_chart`` are its parts
``style``           the page's style sheet and its little script
``markup``          elements with everything escaped
==================  ==================================================================================
"""
