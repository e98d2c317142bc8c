//! Knows who is there, by the liveliness tokens of a domain as they come and go.

use crate::keys::{self, Entity};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tacho_seam::{Result, Say};
use zenoh::pubsub::Subscriber;
use zenoh::sample::SampleKind;
use zenoh::{Session, Wait};

type Tokens = HashMap<String, Entity>;

/// The publishers and subscriptions of a domain, this session's own included.
#[derive(Clone)]
pub struct Graph(Arc<Mutex<Tokens>>);

impl Graph {
    /// Watches them until the subscriber is dropped.
    pub fn watch(session: &Session, domain: u32) -> Result<(Self, Subscriber<()>)> {
        let graph = Self(Arc::default());
        let told = graph.clone();
        let subscriber = session
            .liveliness()
            .declare_subscriber(keys::all_tokens(domain))
            .history(true)
            .callback(move |token| told.note(token.key_expr().as_str(), token.kind()))
            .wait()
            .say(|| "liveliness".into())?;
        Ok((graph, subscriber))
    }

    fn note(&self, token: &str, kind: SampleKind) {
        let Some(entity) = Entity::parse(token) else { return };
        match kind {
            SampleKind::Put => self.tokens().insert(token.into(), entity),
            SampleKind::Delete => self.tokens().remove(token),
        };
    }

    fn tokens(&self) -> MutexGuard<'_, Tokens> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how many entities are now matched with this one.
    pub fn matched(&self, entity: &Entity) -> usize {
        self.tokens().values().filter(|other| entity.matches(other)).count()
    }
}
