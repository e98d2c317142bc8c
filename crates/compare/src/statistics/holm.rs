//! Several tests at once (Holm, *A simple sequentially rejective multiple test procedure*, 1979).

/// Adjusts p values: if those at most `alpha` count, the chance of any false one is at most `alpha`, whatever hangs
/// together. They are returned in the order given.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut greatest = 0.0_f64;
    for (rank, at) in order.into_iter().enumerate() {
        greatest = greatest.max(p[at] * (p.len() - rank) as f64).min(1.0);
        adjusted[at] = greatest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_values_are_those_of_r() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02.
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, known) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - known).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }
}
