"""What the speed benchmarks share.

* ``timing``: CPU time of a piece of work, the best of several rounds
* ``bars``: what was measured beside what is asked for, as a table and a verdict
* ``golden``: positions that the games' original programs reached
* ``samples``: positions of random games, with legal and illegal moves for each
"""
