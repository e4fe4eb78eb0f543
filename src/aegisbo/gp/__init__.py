"""Gaussian processes on the unit cube: pure float64 functions and frozen dataclasses, random generator passed in.

Nothing here knows a trial, a clock, a file, a unit of the user or maximization. Everything is minimized.

Where to look:

====================  =====================================================================================
``kernels``           the Matérn-5/2 kernel and its derivatives
``main_effects``      one function of each coordinate, beside the joint kernel (modern preset)
``posterior``         the GP given data: mean, variance, gradients, more data
``paths``             functions drawn from the posterior (Thompson sampling)
``trigonometry``      cosines and sines of many angles, which is most of a path
``sparse_points``     sums over coordinates, at points of a choice with many values
``isotropic_model``   the model of the paper and its likelihood
``isotropic_fit``     where its hyper-parameters are learned
``additive_model``    the model of the modern preset and its likelihood
``additive_fit``      where its hyper-parameters are learned
``additive_draws``    all hyper-parameters that the data leave open, for predictions
``quadratic_model``   a quadratic and what it leaves over, around a minimum (adaptive preset)
``success_model``     the chance that an evaluation succeeds
``low_values``        how well a model predicts the lowest of its data
``thinning``          some of many data, to be learned from or to be conditioned on
``output_transform``  from measured values to standardized ones and back
``rank_scale``        the same by the ranks of values, for noise
``bowl``              a quadratic whose noise grows with its height
``linalg``            Cholesky factors
====================  =====================================================================================

Notation, as used in names and comments throughout (the equation numbers are those of the paper):

===========  ==================  =====================================================================
symbol       shape               meaning
===========  ==================  =====================================================================
``d``                            number of coordinates of the cube
``n``                            number of finished evaluations
``m``                            number of points asked about at once
``X``        (n, d)              where the function was evaluated, in [0, 1]^d
``y``        (n,)                what was measured there, standardized to mean 0 and variance 1
``Z``        (m, d)              points asked about
``P``        (p, d)              points under evaluation (pending)
``K``        (n, n)              kernel matrix of ``X`` plus noise on its diagonal
``L``        (n, n)              lower Cholesky factor, ``L @ L.T = K``
``alpha``    (n,)                ``K^-1 y``: weights of the posterior mean, eq. 1
``mu``       (m,)                posterior mean at ``Z``, eq. 1
``var``      (m,)                posterior variance of the noise-free function at ``Z``, eq. 2
``phi``                          what is learned: logarithms of length scales, output scale or noise
``F``        (m, 2)              objectives of the Pareto search, (mu, -sigma), both minimized
===========  ==================  =====================================================================
"""
