//! Spearman's rank correlation and how likely so strong a one is by chance.

/// Most values whose orders are all tried; 9! is 362,880.
const EXACT_TO: usize = 9;

/// Ranks 1 to n of values; equal ones share the mean of theirs.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut less = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        equal.iter().for_each(|i| ranks[*i] = less as f64 + (equal.len() + 1) as f64 / 2.0);
        less += equal.len();
    }
    ranks
}

/// Spearman's rank correlation of values with the order in which they stand (Spearman 1904): 1 where each is greater
/// than the one before. Absent where all are alike, or there are fewer than two.
pub(crate) fn correlation_with_order(values: &[f64]) -> Option<f64> {
    let ranks = ranks(values);
    Some(Products::of(&ranks)?.correlation(products_with_order(&ranks)))
}

/// Probability, two-sided, that values in random order correlate with it as strongly: all orders counted up to nine
/// values, else by Student's t with n - 2 degrees of freedom (Kendall and Stuart, The Advanced Theory of Statistics,
/// volume 2, chapter 31).
pub(crate) fn chance_of_correlation(values: &[f64]) -> Option<f64> {
    let ranks = ranks(values);
    let products = Products::of(&ranks)?;
    let seen = products.correlation(products_with_order(&ranks)).abs();
    let n = ranks.len();
    // Ranks are halves, so that their sums are exact and equal correlations are equal to the last bit.
    if n <= EXACT_TO {
        let (mut as_strong, mut all) = (0u64, 0u64);
        each_order(&mut ranks.clone(), &mut |order| {
            all += 1;
            as_strong += u64::from(products.correlation(products_with_order(order)).abs() >= seen);
        });
        return Some(as_strong as f64 / all as f64);
    }
    if seen >= 1.0 {
        // Two orders of n! correlate perfectly; Student's t would say zero.
        return Some(2.0 / (1..=n).map(|i| i as f64).product::<f64>());
    }
    let freedom = (n - 2) as f64;
    Some(two_sided_t(seen * (freedom / (1.0 - seen * seen)).sqrt(), n - 2))
}

/// What a correlation with 1 to n needs besides the sum of products.
struct Products {
    /// n times the product of both means.
    of_means: f64,
    /// Root of the product of both sums of squares about the mean.
    scale: f64,
}

impl Products {
    /// Absent where all ranks are alike.
    fn of(ranks: &[f64]) -> Option<Products> {
        let n = ranks.len() as f64;
        let mean = (n + 1.0) / 2.0;
        let squares = |ranks: &mut dyn Iterator<Item = f64>| ranks.map(|r| (r - mean).powi(2)).sum::<f64>();
        let scale = (squares(&mut ranks.iter().copied()) * squares(&mut (1..=ranks.len()).map(|i| i as f64))).sqrt();
        (scale > 0.0).then_some(Products { of_means: n * mean * mean, scale })
    }

    fn correlation(&self, products: f64) -> f64 {
        ((products - self.of_means) / self.scale).clamp(-1.0, 1.0)
    }
}

fn products_with_order(ranks: &[f64]) -> f64 {
    ranks.iter().zip(1..).map(|(rank, position)| rank * f64::from(position)).sum()
}

/// Calls with every order of the values once (Heap 1963).
fn each_order(values: &mut [f64], each: &mut impl FnMut(&[f64])) {
    let mut swapped = vec![0; values.len()];
    each(values);
    let mut i = 1;
    while i < values.len() {
        if swapped[i] < i {
            values.swap(if i % 2 == 0 { 0 } else { swapped[i] }, i);
            each(values);
            swapped[i] += 1;
            i = 1;
        } else {
            swapped[i] = 0;
            i += 1;
        }
    }
}

/// Probability that Student's t is at least this far from 0, for whole degrees of freedom: the finite series of
/// Abramowitz and Stegun, 26.7.3 and 26.7.4.
fn two_sided_t(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    // 1 + 1/2 c^2 + 1*3/(2*4) c^4 ..., or c + 2/3 c^3 + 2*4/(3*5) c^5 ...
    let (mut term, mut series) = if odd { (cosine, cosine) } else { (1.0, 1.0) };
    let mut of = if odd { 3 } else { 2 };
    while of + 2 <= freedom {
        term *= cosine * cosine * (of - 1) as f64 / of as f64;
        series += term;
        of += 2;
    }
    let within = match freedom {
        1 => angle * std::f64::consts::FRAC_2_PI,
        _ if odd => (angle + sine * series) * std::f64::consts::FRAC_2_PI,
        _ => sine * series,
    };
    (1.0 - within).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::noise::Draw;
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn equal_values_share_a_rank() {
        assert_eq!(ranks(&[30.0, 10.0, 20.0, 10.0]), [4.0, 1.5, 3.0, 1.5]);
        assert_eq!(ranks(&[]), Vec::<f64>::new());
    }

    #[test]
    fn a_staircase_is_one_its_reverse_minus_one_and_a_plain_none() {
        assert_eq!(correlation_with_order(&[1.0, 2.5, 2.6, 90.0]), Some(1.0));
        assert_eq!(correlation_with_order(&[4.0, 3.0, 2.0]), Some(-1.0));
        assert_eq!(correlation_with_order(&[7.0, 7.0, 7.0, 7.0]), None);
        assert_eq!(chance_of_correlation(&[7.0, 7.0, 7.0, 7.0]), None);
    }

    #[test]
    fn correlations_are_those_of_the_textbook_formula() {
        // 1 - 6 sum d^2 / (n (n^2 - 1)): ranks 3 1 2 5 4 against 1 to 5, d^2 = 4 1 1 1 1.
        let found = correlation_with_order(&[3.0, 1.0, 2.0, 5.0, 4.0]).expect("ranks");
        assert!(close(found, 1.0 - 6.0 * 8.0 / (5.0 * 24.0)), "{found}");
    }

    #[test]
    fn chances_of_few_values_are_counted() {
        // Of 24 orders of four, 2 correlate perfectly; |r| >= 0.8 holds for 1 + 3 in each direction (tables of
        // Spearman's rho).
        assert!(close(chance_of_correlation(&[1.0, 2.0, 3.0, 4.0]).expect("p"), 2.0 / 24.0));
        assert!(close(chance_of_correlation(&[2.0, 1.0, 3.0, 4.0]).expect("p"), 8.0 / 24.0));
        // Every order is tried: 9! of them, and a perfect one and its reverse are two.
        let perfect: Vec<f64> = (0..9).map(f64::from).collect();
        assert!(close(chance_of_correlation(&perfect).expect("p"), 2.0 / 362_880.0));
    }

    #[test]
    fn chances_of_many_values_are_those_of_students_t() {
        // Quantiles of t from tables: 0.975 at 10, 30 and 1 degrees of freedom; 0.995 at 29.
        for (t, freedom, chance) in
            [(2.228_138_852, 10, 0.05), (2.042_272_456, 30, 0.05), (12.706_204_736, 1, 0.05), (2.756_385_904, 29, 0.01)]
        {
            assert!((two_sided_t(t, freedom) - chance).abs() < 1e-9, "{t} {freedom}: {}", two_sided_t(t, freedom));
        }
        let perfect: Vec<f64> = (0..31).map(f64::from).collect();
        let chance = chance_of_correlation(&perfect).expect("p");
        assert!(chance > 0.0 && chance < 1e-30, "{chance}");
    }

    #[test]
    fn subscribers_without_order_look_like_a_staircase_as_often_as_chance_says() {
        for count in [6, 31] {
            let found = (0..2000).filter(|seed| {
                let mut draw = Draw(*seed);
                let means: Vec<f64> = (0..count).map(|_| draw.exponential()).collect();
                chance_of_correlation(&means).expect("p") <= 0.05
            });
            let found = found.count();
            // Binomial(2000, 0.05): mean 100, standard deviation 9.7.
            assert!((61..=139).contains(&found), "{count} subscribers: {found} of 2000");
        }
    }
}
