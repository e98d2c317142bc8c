//! Counts sends that the middleware refused; the node continues.

use crate::protocol::Refusal;
use std::collections::BTreeMap;
use std::ffi::CString;
use tacho_middleware::Error;

/// Refusals of one publisher, by the middleware's code for the reason.
#[derive(Debug, Default)]
pub struct Refusals(BTreeMap<u32, Reason>);

#[derive(Debug)]
struct Reason {
    words: CString,
    count: u64,
}

impl Refusals {
    /// Counts a refusal. Returns its code, and the reason of the first refusal with this code. Any other error is
    /// returned as an error.
    pub fn add(&mut self, error: Error) -> Result<(u32, CString), Error> {
        let Error::Refused { code, cause, .. } = error else { return Err(error) };
        let reason =
            self.0.entry(code).or_insert_with(|| Reason { words: CString::new(cause).unwrap_or_default(), count: 0 });
        reason.count += 1;
        Ok((code, reason.words.clone()))
    }

    /// Number of refusals.
    pub fn count(&self) -> u64 {
        self.0.values().map(|reason| reason.count).sum()
    }

    /// Refusals by reason.
    pub fn figures(&self) -> Vec<Refusal> {
        self.0
            .iter()
            .map(|(code, Reason { words, count })| Refusal {
                code: *code,
                reason: words.to_string_lossy().into_owned(),
                count: *count,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: u32, cause: &str) -> Error {
        Error::Refused { code, action: "publish on /x".into(), cause: cause.into() }
    }

    #[test]
    fn refusals_are_counted_by_code_with_the_words_of_the_first() {
        let mut refusals = Refusals::default();
        for (code, cause) in [(90, "too long"), (105, "no room"), (90, "too long again")] {
            assert_eq!(refusals.add(refused(code, cause)).unwrap().0, code);
        }
        assert_eq!(refusals.count(), 3);
        let figures: Vec<_> = refusals.figures().into_iter().map(|r| (r.code, r.reason, r.count)).collect();
        assert_eq!(figures, [(90, "too long".to_owned(), 2), (105, "no room".to_owned(), 1)]);
    }

    #[test]
    fn what_is_no_refusal_is_given_back() {
        let error = Error::Text { what: "topic", text: String::new() };
        assert!(matches!(Refusals::default().add(error), Err(Error::Text { .. })));
    }
}
