"""What the reliability benchmarks and the zoo of the tests share: a server process, and fleets of bots against it.

* ``server``: ``triarena serve`` as a process of our own, killed and started again at will
* ``line``: a connection that says whatever it is told to, on plain msgpack, without the reference client
* ``scripts``: matches that were thought out before, so that a bot costs no thinking
* ``crew``: the bots that play them, with their own notes of what they saw and when
* ``diary``: what a reference client was told, and whether that can all be true
* ``host``: an administrator's line that prepares rooms
* ``database``: a PostgreSQL schema of its own for a server under test
* ``load``: something else for the processors to do
* ``figures``: percentiles and tables, and the file that keeps them
* ``files``: text files that are whole or not there
* ``verdict``: how benchmarks end, and what their exit codes mean
* ``arguments``: options of benchmarks, checked before anything is measured
* ``stalling``: a server that stands still now and then
"""
