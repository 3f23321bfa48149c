"""The gateway for clients of the Software-Challenge 2024, which speak XML: they play here unchanged.

* ``gateway``: the way in; tells these clients what happens in their rooms.
* ``guest``: such a client as the lobby sees it.
* ``session``: a connection's state machine, over what both ends have said (``conversation``).
* ``hearing``: its messages to ours, made of ``reading`` (XML), ``requests`` and ``moves``.
* ``telling``: our messages to its ones, made of ``answers``, ``state``, ``verdicts`` and ``markup`` (XML).
* ``hints``: for clients of ours that wait beside such a one; ``wrong_port``: for those at the port of the others.
* ``replays``: stored matches in the original's format.

Lobby, rooms, clocks and referee are those of everybody else.
"""
