"""Pure tournament mathematics: no clock, no chance, no files, nothing but the standard library.

What all of it speaks of is in ``values``: rounds, encounters, fixtures, pairs, plans, results.

Pairings. ``formats`` makes a format by name (`make_format`) and knows what each needs:

* ``round_robin``, ``gauntlet``: everything is known from the start;
* ``swiss``, ``ladder``: round by round (``progressive``), by a cheapest perfect matching (``matching``), with sides in
  balance (``colours``);
* ``knockout``: follows a ``bracket``, single or double, and breaks ties.

``meeting`` lays out the games of an encounter, ``seeds`` says on which boards they are played and draws lots;
``schedule`` says which games of a plan may start now, and who waits for whom.
"""
