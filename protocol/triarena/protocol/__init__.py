"""The wire protocol, sans-IO: what both ends say, and when they may say it.

* ``values``, ``game_values``: what messages are made of; ``from_client``, ``from_server``: the messages.
* ``frames``, ``codec``: bytes to messages and back.
* ``table``: every transition; ``session``: the state machine that follows it, the same for both ends.
* ``replay``: a stored match, and its check against the rules.
* ``schema``, ``vectors``, ``document``: JSON Schema, test vectors and the protocol document, generated from the above.
"""
