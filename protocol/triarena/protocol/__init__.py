"""The wire protocol, sans-IO: what both ends say, and when they may say it.

* ``values``, ``game_values``, ``room_views``: what messages are made of.
* ``from_client``, ``from_server``: the messages.
* ``identity``: when names are the same, and what stands for a token.
* ``frames``, ``codec``: bytes to messages and back.
* ``table``: every transition; ``session``: the state machine that follows it, the same for both ends.
* ``codes``: every code with its meaning; ``errors``: who broke the protocol.
* ``replay``: a stored match, and its check against the rules.

Made from the above for other languages, see ``publication``: ``schema`` (JSON Schema), ``examples`` and
``example_match`` with ``vectors`` (test vectors), ``document`` (with its template; ``docstrings`` and ``markdown``
help it).
"""
