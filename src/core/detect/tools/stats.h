// Robust statistics over short, noisy series. All take the values by value or copy what they must sort; none looks at
// NaN or Inf (callers pass finite values).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mw::detect {

/// NaN for an empty input.
double median(std::vector<double> values);
/// The same of values that may be left in another order.
double median_of(std::span<double> values);
constexpr size_t kSmallWindow = 64;  ///< values whose median is taken without asking for memory
double mean(std::span<const double> values);

/// The value below which the share `q` (0..1) of the values lies, nearest rank. NaN for an empty input.
double quantile(std::vector<double> values, double q);
/// Likewise; puts `values` in another order.
double quantile_of(std::span<double> values, double q);
/// Which of `size` (at least one) values in order that one is.
size_t quantile_index(size_t size, double q);

/// Standard deviation of the noise around a moving level, from successive differences: median |x[i]-x[i-1]| divided by
/// 0.6745*sqrt(2), which is the standard deviation for normal noise, whatever the trend (J. von Neumann 1941, "mean
/// square successive difference", with the median of Rousseeuw & Croux 1993 instead of the mean square). When more than
/// half of the differences are exactly zero, the mean of |differences| * 0.886 (same calibration) takes its place.
/// 0 for fewer than two values.
double noise(std::span<const double> values);

/// The standard error of the difference of two means, each by the spread of its own values.
double error_of_means(std::span<const double> first, std::span<const double> second);

/// Rolling median of up to `width` values that end at each index.
std::vector<double> rolling_median(std::span<const double> values, size_t width);

/// The last of them: over all of `values`.
double median_of_last(std::span<const double> values, size_t width);

/// By how many standard deviations `a` lies above `b` by the ranks of its values (Mann and Whitney 1947): by the pairs
/// in which it is the higher one; those that differ by no more than `alike` are counted half. 0 where one of them is
/// empty.
double ranks_above(std::span<const double> a, std::span<const double> b, double alike = 0);

/// Mann-Kendall trend test (Mann 1945, Kendall 1975): the normal score of the number of rising minus falling pairs.
/// At most `kTrendPoints` values are compared (evenly picked means of blocks beyond that). 0 for fewer than four
/// values.
constexpr size_t kTrendPoints = 256;
double trend_score(std::span<const double> values);

/// The index k in [1, n-1] at which splitting `values` into [0,k) and [k,n) leaves the least sum of squares around the
/// two means (the maximum-likelihood change point for a shift in mean, Hinkley 1970). 0 for fewer than two values.
size_t change_point(std::span<const double> values);

}  // namespace mw::detect
