//! The input that each output of a node was made of, by a rule that finds it over the whole run.

use crate::observe::{PublicationSeen, TakeSeen};
use tacho_tables::near::partition_near;
use tacho_tables::row::Row;
use tacho_tables::rows::Rows;

/// Takes by publication, in its order.
pub(crate) struct InputOf(Rows<(Row<PublicationSeen>, Row<TakeSeen>)>);

impl InputOf {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Row<PublicationSeen>, Row<TakeSeen>)> + '_ {
        self.0.iter().copied()
    }

    /// `near`: where the look-up before ended.
    pub fn find(&self, publication: Row<PublicationSeen>, near: &mut usize) -> Option<Row<TakeSeen>> {
        let place = partition_near(&self.0, near, |(of, _)| *of < publication);
        self.0.get(place).filter(|(of, _)| *of == publication).map(|(_, take)| *take)
    }
}

/// Each publication once, in any order.
impl FromIterator<(Row<PublicationSeen>, Row<TakeSeen>)> for InputOf {
    fn from_iter<I: IntoIterator<Item = (Row<PublicationSeen>, Row<TakeSeen>)>>(pairs: I) -> InputOf {
        InputOf(pairs.into_iter().collect::<Rows<_>>().sorted_by(Ord::cmp))
    }
}
