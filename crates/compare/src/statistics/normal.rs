//! The standard normal distribution.

use std::f64::consts::PI;

/// Probability of a value above `z`. Below 8 in amount, the error is less than 1e-12 of it: a continued fraction in the
/// tail (Abramowitz and Stegun 26.2.14), a series in the middle (26.2.11).
pub fn upper_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - upper_tail(-z);
    }
    let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
    if z < 3.0 {
        let mut term = z;
        let mut sum = z;
        let mut odd = 1.0;
        while term.abs() > 1e-17 {
            odd += 2.0;
            term *= z * z / odd;
            sum += term;
        }
        return 0.5 - density * sum;
    }
    let fraction = (1..=200).rev().fold(z, |below, k| z + f64::from(k) / below);
    density / fraction
}

/// The value above which lies a part `p` of the distribution, for `p` from 1e-300 to 1/2; by bisection.
pub fn upper_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 38.0);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if upper_tail(middle) > p {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_printed_tables() {
        // R: pnorm(c(0, 1, 1.959964, 2.999999, 3.000001, 5), lower.tail = FALSE)
        let known = [(0.0, 0.5), (1.0, 0.158655253931457), (1.959963984540054, 0.025), (5.0, 2.866515718791939e-7)];
        for (z, p) in known {
            assert!((upper_tail(z) / p - 1.0).abs() < 1e-9, "{z}: {}", upper_tail(z));
        }
        assert!((upper_tail(2.9999999) / upper_tail(3.0000001) - 1.0).abs() < 1e-5, "both forms meet at 3");
        assert!((upper_quantile(0.025) - 1.959963984540054).abs() < 1e-9);
    }
}
