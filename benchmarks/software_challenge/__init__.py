"""Clients of the Software-Challenge 2024 against our server.

* ``old_bot``: a bot on the package ``socha``, run in an environment of its own (``environment``).
* ``hosting``: our server with its second port, as a process.
* ``comparing``: what such a bot saw, beside the journal.
* ``xml_players``: players that cost little, to load the server.
"""
