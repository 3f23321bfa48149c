"""What the speed benchmarks share.

* ``timing``: CPU time of a piece of work, the best of several rounds
* ``bars``: what was measured beside what is asked for, as a table and a verdict
* ``golden``: positions that the games' original programs reached
* ``samples``: positions of random games, with legal and illegal moves for each
* ``playing``: how fast the rules of one game are on one board
* ``arena``: rounds of matches at a server, and at a bare relay
* ``bots``, ``raw``, ``relay``: the processes of an arena: bots, observers, and the relay
* ``lifeline``: what ends those processes when the benchmark that started them is no more
* ``probed``: a server whose loop is watched
"""
