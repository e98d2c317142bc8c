//! Sizes of serialised messages.

/// How many messages there are whose size is known, and their sizes, bytes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    count: u64,
    sum: u64,
    least: u64,
    most: u64,
}

impl Sizes {
    /// Adds a message.
    pub fn add(&mut self, bytes: u64) {
        self.join(&Sizes { count: 1, sum: bytes, least: bytes, most: bytes });
    }

    /// Adds those of others.
    pub fn join(&mut self, others: &Sizes) {
        let is_first = self.count == 0;
        if others.count == 0 {
            return;
        }
        self.least = if is_first { others.least } else { self.least.min(others.least) };
        self.most = self.most.max(others.most);
        (self.count, self.sum) = (self.count + others.count, self.sum + others.sum);
    }

    /// Their mean; `None` if there are none.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The least and the greatest; `None` if there are none.
    pub fn range(&self) -> Option<(u64, u64)> {
        (self.count > 0).then_some((self.least, self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_size_changes_nothing() {
        let mut all = Sizes::default();
        assert_eq!((all.mean(), all.range()), (None, None));
        all.join(&Sizes::default());
        [300, 100].iter().for_each(|bytes| all.add(*bytes));
        all.join(&Sizes::default());
        assert_eq!((all.mean(), all.range()), (Some(200.0), Some((100, 300))));
    }
}
