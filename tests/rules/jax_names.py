"""The functions on arrays that JAX 0.10.2 has under names of NumPy 2.4: not what prints, stores or asks for types."""

JAX = {
    "numpy": """
        abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis apply_over_axes
        arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort
        argwhere around array array_equal array_equiv array_split asarray asin asinh astype atan atan2 atanh
        atleast_1d atleast_2d atleast_3d average bartlett bincount bitwise_and bitwise_count bitwise_invert
        bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman block
        broadcast_arrays broadcast_shapes broadcast_to cbrt cdouble ceil choose clip column_stack complex128
        complex64 compress concat concatenate conj conjugate convolve copy copysign corrcoef correlate cos
        cosh count_nonzero cov cross csingle cumprod cumsum cumulative_prod cumulative_sum deg2rad degrees
        delete diag diag_indices diag_indices_from diagflat diagonal diff digitize divide divmod dot double
        dsplit dstack ediff1d einsum empty empty_like equal exp exp2 expand_dims expm1 extract eye fabs
        fill_diagonal flatnonzero flip fliplr flipud float16 float32 float64 float_power floor floor_divide
        fmax fmin fmod frexp fromfunction fromiter frompyfunc full full_like gcd geomspace gradient greater
        greater_equal hamming hanning heaviside histogram histogram2d histogram_bin_edges histogramdd hsplit
        hstack hypot i0 identity imag indices inner insert interp intersect1d invert isclose iscomplex
        iscomplexobj isfinite isin isinf isnan isneginf isposinf isreal isrealobj isscalar ix_ kaiser kron lcm
        ldexp left_shift less less_equal lexsort linspace log log10 log1p log2 logaddexp logaddexp2
        logical_and logical_not logical_or logical_xor logspace mask_indices matmul matrix_transpose matvec
        max maximum mean median meshgrid min minimum mod modf moveaxis multiply nan_to_num nanargmax nanargmin
        nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum
        nanvar ndim negative nextafter nonzero not_equal ones ones_like outer packbits pad partition
        percentile permute_dims piecewise place poly polyadd polyder polydiv polyfit polyint polymul polysub
        polyval positive pow power prod ptp put put_along_axis quantile rad2deg radians ravel
        ravel_multi_index real reciprocal remainder repeat reshape resize right_shift rint roll rollaxis roots
        rot90 round searchsorted select setdiff1d setxor1d shape sign signbit sin sinc single sinh size sort
        sort_complex spacing split sqrt square squeeze stack std subtract sum swapaxes take take_along_axis
        tan tanh tensordot tile trace transpose trapezoid tri tril tril_indices tril_indices_from trim_zeros
        triu triu_indices triu_indices_from true_divide trunc union1d unique unique_all unique_counts
        unique_inverse unique_values unpackbits unravel_index unstack unwrap vander var vdot vecdot vecmat
        vectorize vsplit vstack where zeros zeros_like
    """,
    "numpy.linalg": """
        cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_power
        matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot
        tensorinv tensorsolve trace vecdot vector_norm
    """,
    "numpy.fft": """
        fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2
        rfftfreq rfftn
    """,
}
