"""The moves: each is a way to choose a point, in a file of its own.

==============  =============================================================================================
``move``        what a move sees, and what it chooses
``exploit``     where the mean is lowest (Algorithm 1, line 6)
``thompson``    where a function drawn from the posterior is lowest (lines 8 and 9)
``pareto``      a member of the Pareto set of low mean and high uncertainty (lines 11 and 12)
``anywhere``    a random point
``local``       where a model of the lowest points alone promises most
``improve``     where most improvement is expected, if the lowest mean promises too little
``elsewhere``   another valley, if the bottom of the best one is known (``valley``)
``repeat``      a point that is known, if another measurement there decides who is best
``feasible``    where limits are most likely kept, until an evaluation has kept them all
``on_fronts``   exploit, thompson, pareto and improve for several objectives
==============  =============================================================================================
"""
