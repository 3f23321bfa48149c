"""The gateway for clients of the Software-Challenge 2024, which speak XML: they play here unchanged.

* ``gateway``: the way in; tells these clients what happens in their rooms.
* ``guest``: such a client as the lobby sees it.
* ``session``: a connection's state machine: its bytes to our messages, our messages to its bytes.
* ``reading``, ``requests``, ``moves``: from XML. ``markup``, ``state``, ``verdicts``, ``answers``: to XML.
* ``replays``: stored matches in the original's format.

Lobby, rooms, clocks and referee are those of everybody else.
"""
