//! The messages of a bag: file after file, chunk after chunk.

use super::chunk::{self, ChunkHead};
use super::definition::begins_with_header;
use super::record::{opcode, read_up_to, Channel, Fields, Head, MessageHead, Schema, FOOTER_BYTES, MAGIC};
use super::stamp;
use crate::bag::contents::{Bag, OnMessage, OnProgress};
use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use tacho_events::bag::{BagMessage, BagTopic};

/// Longest definition of a type that is accepted.
const DEFINITION_MAX: u64 = 16 << 20;
/// Bytes between two reports of the progress.
const PROGRESS_EVERY_BYTES: u64 = 1 << 20;
/// How many bytes of a message are read for its stamp.
const MESSAGE_START: usize = MessageHead::BYTES + stamp::BYTES;

/// Reads one file that is in memory; messages of the topic `data_of` come with their data.
pub fn read_bytes(bytes: &[u8], data_of: Option<&str>, on_message: &mut dyn FnMut(BagMessage, &[u8])) -> Bag {
    let mut on_message = |message, data: &[u8]| on_message(message, data);
    let mut reading = Reading::new(&mut on_message, data_of.map(str::to_owned));
    reading.file(Path::new("bag.mcap"), io::Cursor::new(bytes), bytes.len() as u64, &mut |_, _| true);
    reading.bag
}

/// The files of one bag, one after the other.
pub(crate) struct Reading<'a> {
    pub bag: Bag,
    on_message: &'a mut OnMessage<'a>,
    /// The topic whose messages are read with their data.
    data_of: Option<String>,
    topics: HashMap<(String, String), u32>,
    stretch: u32,
    // State of the current file:
    path: PathBuf,
    schemas: HashMap<u16, Schema>,
    channels: HashMap<u16, Known>,
    /// Messages of a chunk that may still turn out damaged, and the channels that it contains.
    pending: Vec<Pending>,
    brought: Vec<u16>,
}

/// A channel, and the type of its messages.
struct Known {
    topic: BagTopic,
    encoding: String,
    number: Option<u32>,
}

struct Pending {
    channel: u16,
    message: BagMessage,
    /// Empty unless it was asked for.
    data: Vec<u8>,
}

/// A fault of a file, with its offset.
struct Fault {
    name: &'static str,
    at: u64,
    text: String,
}

impl<'a> Reading<'a> {
    pub fn new(on_message: &'a mut OnMessage<'a>, data_of: Option<String>) -> Self {
        Reading {
            bag: Bag::default(),
            on_message,
            data_of,
            topics: HashMap::new(),
            stretch: 0,
            path: PathBuf::new(),
            schemas: HashMap::new(),
            channels: HashMap::new(),
            pending: Vec::new(),
            brought: Vec::new(),
        }
    }

    /// Reads one file.
    pub fn file(&mut self, path: &Path, mut source: impl Read + Seek, length: u64, on_progress: &mut OnProgress<'_>) {
        self.path = path.to_path_buf();
        self.schemas.clear();
        self.channels.clear();
        let read = self.definitions(&mut source, length).and_then(|()| source.seek(SeekFrom::Start(0)));
        let fault = match read {
            Ok(_) => self.data(&mut source, length, on_progress),
            Err(error) => Err(unreadable(0, &error)),
        };
        if let Err(fault) = fault {
            self.say(fault);
        }
        // A recorded topic without messages is a topic, too.
        let mut channels: Vec<u16> = self.channels.keys().copied().collect();
        channels.sort_unstable();
        for id in channels {
            self.number(id);
        }
    }

    /// Reads the schemas and channels that a finished file repeats after its data. They are whole there even if the
    /// chunk that contained them is damaged.
    fn definitions(&mut self, source: &mut (impl Read + Seek), length: u64) -> io::Result<()> {
        let footer = MAGIC.len() as u64 + FOOTER_BYTES + Head::BYTES;
        let Some(at) = length.checked_sub(footer) else { return Ok(()) };
        source.seek(SeekFrom::Start(at))?;
        let mut bytes = [0; FOOTER_BYTES as usize];
        let head = Head::read(source)?;
        if head != Some(Head { opcode: opcode::FOOTER, length: FOOTER_BYTES })
            || read_up_to(source, &mut bytes)? < bytes.len()
        {
            return Ok(());
        }
        let start = Fields(&bytes).u64().unwrap_or(0);
        if start == 0 || start >= at {
            return Ok(());
        }
        source.seek(SeekFrom::Start(start))?;
        let mut summary = source.take(at - start);
        while let Ok(Some(head)) = Head::read(&mut summary) {
            // A fault here damages no message; if something is missing, the place that needs it reports that.
            if !head.is_known() || head.length > summary.limit() || self.define(head, &mut summary).is_err() {
                break;
            }
        }
        self.brought.clear();
        Ok(())
    }

    /// Reads a file from its first byte to the end of its data.
    fn data(&mut self, source: &mut impl Read, length: u64, on_progress: &mut OnProgress<'_>) -> Result<(), Fault> {
        let mut magic = [0; MAGIC.len()];
        let count = read_up_to(source, &mut magic).map_err(|error| unreadable(0, &error))?;
        if magic != MAGIC {
            let found = String::from_utf8_lossy(&magic[..count]).into_owned();
            return Err(Fault {
                name: "not-mcap",
                at: 0,
                text: format!("begins with {found:?}; an MCAP file begins with \"\\x89MCAP0\\r\\n\""),
            });
        }
        let (mut at, mut told) = (MAGIC.len() as u64, 0);
        loop {
            if at - told >= PROGRESS_EVERY_BYTES {
                told = at;
                self.bag.complete = on_progress(at, self.bag.messages);
            }
            if !self.bag.complete {
                return Ok(());
            }
            let not_finished = |text: String| Fault { name: "not-finished", at, text };
            let head = match Head::read(source) {
                Ok(Some(head)) => head,
                Ok(None) => return Err(not_finished(
                    "the file ends without an end of its data: it was still being written, or its writer was killed"
                        .into(),
                )),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(not_finished(format!(
                        "the file ends {} bytes into the head of a record; read up to there",
                        length.saturating_sub(at)
                    )));
                }
                Err(error) => return Err(unreadable(at, &error)),
            };
            if !head.is_known() {
                let text = format!(
                    "a record of the unknown kind {:#04x}; the {} bytes from there on are not read",
                    head.opcode,
                    length.saturating_sub(at)
                );
                return Err(Fault { name: "not-a-record", at, text });
            }
            let there = length.saturating_sub(at + Head::BYTES);
            let cut = head.length > there;
            match head.opcode {
                opcode::DATA_END | opcode::FOOTER => return Ok(()),
                opcode::CHUNK => {
                    let mut record = source.take(head.length.min(there));
                    if let Err(fault) = self.chunk(&mut record, at, cut) {
                        self.say(fault);
                    }
                    skip(&mut record).map_err(|error| unreadable(at, &error))?;
                }
                _ if cut => {}
                _ => {
                    self.record(head, source, at).map_err(|error| unreadable(at, &error))?;
                    self.commit();
                }
            }
            if cut {
                let text = format!(
                    "the file ends {there} bytes into a record of {}; read up to its last whole message",
                    head.length
                );
                return Err(not_finished(text));
            }
            at += Head::BYTES + head.length;
        }
    }

    /// Reads a record that is wholly there; `at` is its offset, or that of its chunk. A malformed record is reported
    /// and skipped.
    fn record(&mut self, head: Head, source: &mut impl Read, at: u64) -> io::Result<()> {
        let wrong = match head.opcode {
            opcode::MESSAGE => self.message(head, source)?,
            _ => self.define(head, source)?,
        };
        if let Some(text) = wrong {
            self.say(Fault { name: "bad-record", at, text: text + "; it is left out" });
        }
        Ok(())
    }

    /// Stores a schema or channel and skips any other record; returns the fault that it finds.
    fn define(&mut self, head: Head, source: &mut impl Read) -> io::Result<Option<String>> {
        if !matches!(head.opcode, opcode::SCHEMA | opcode::CHANNEL) {
            return skip(&mut source.take(head.length)).map(|()| None);
        }
        if head.length > DEFINITION_MAX {
            skip(&mut source.take(head.length))?;
            return Ok(Some(format!("a definition of {} bytes; expected {DEFINITION_MAX} at most", head.length)));
        }
        let mut content = Vec::new();
        source.take(head.length).read_to_end(&mut content)?;
        let whole = match head.opcode {
            opcode::SCHEMA => Schema::read(&content).map(|schema| {
                self.schemas.entry(schema.id).or_insert(schema);
            }),
            _ => Channel::read(&content).map(|channel| self.add(channel)),
        };
        Ok(whole.is_none().then(|| format!("a definition that does not fit its {} bytes", head.length)))
    }

    /// Stores a channel that is not known yet.
    fn add(&mut self, channel: Channel) {
        if self.channels.contains_key(&channel.id) {
            return;
        }
        let schema = self.schemas.get(&channel.schema);
        let has_header =
            schema.filter(|_| matches!(channel.encoding.as_str(), "cdr" | "ros1")).and_then(begins_with_header);
        let datatype = schema.map_or(String::new(), |schema| schema.name.clone());
        let topic = BagTopic { name: channel.topic, datatype, has_header };
        self.brought.push(channel.id);
        self.channels.insert(channel.id, Known { topic, encoding: channel.encoding, number: None });
    }

    /// Keeps a message until its chunk is known to be whole; returns the fault that it finds.
    fn message(&mut self, head: Head, source: &mut impl Read) -> io::Result<Option<String>> {
        let mut record = source.take(head.length);
        let mut start = [0; MESSAGE_START];
        let count = read_up_to(&mut record, &mut start)?;
        let mut data = Vec::new();
        if self.is_asked_for(&start[..count]) {
            data.extend_from_slice(&start[MessageHead::BYTES..count]);
            record.read_to_end(&mut data)?;
        }
        skip(&mut record)?;
        if record.limit() > 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut fields = Fields(&start[..count]);
        let Some(MessageHead { channel: of, sequence, log_ns, publish_ns }) = MessageHead::read(&mut fields) else {
            return Ok(Some(format!("a message of {} bytes", head.length)));
        };
        let Some(channel) = self.channels.get(&of) else {
            return Ok(Some(format!("a message of channel {of}, which nothing before it describes")));
        };
        let (Ok(log_ns), Ok(published_ns)) = (i64::try_from(log_ns), i64::try_from(publish_ns)) else {
            return Ok(Some(format!("a message at {} ns, which is no time", log_ns.max(publish_ns))));
        };
        let has_stamp = channel.topic.has_header == Some(true);
        let message = BagMessage {
            topic: 0,
            log_ns,
            // Writers that have only one time write it twice.
            publish_ns: (published_ns != 0 && published_ns != log_ns).then_some(published_ns),
            stamp_ns: stamp::of(&channel.encoding, fields.0).filter(|_| has_stamp),
            size_bytes: head.length - MessageHead::BYTES as u64,
            sequence: Some(sequence),
            stretch: self.stretch,
        };
        self.pending.push(Pending { channel: of, message, data });
        Ok(None)
    }

    /// Whether the data of a message that begins with these bytes are asked for.
    fn is_asked_for(&self, start: &[u8]) -> bool {
        let Some(wanted) = &self.data_of else { return false };
        let head = MessageHead::read(&mut Fields(start));
        head.and_then(|head| self.channels.get(&head.channel)).is_some_and(|channel| channel.topic.name == *wanted)
    }

    /// Reads the records of a chunk. If its checksum or compression is wrong, no record counts; if the file ends in it,
    /// the records up to there count.
    fn chunk(&mut self, source: &mut impl Read, at: u64, cut: bool) -> Result<(), Fault> {
        self.brought.clear();
        let bad = |text: String| Fault {
            name: "bad-chunk",
            at,
            text: format!("a chunk with {text}; its messages are left out"),
        };
        let head = match ChunkHead::read(source) {
            Ok(Some(head)) => head,
            Ok(None) if cut => return Ok(()),
            Ok(None) => return Err(bad("no head that makes sense".into())),
            Err(error) => return Err(unreadable(at, &error)),
        };
        let read = self.records(&head, source, at);
        match read {
            Err(_) if cut => self.commit(),
            Ok(()) => self.commit(),
            Err(text) => {
                self.pending.clear();
                self.brought.drain(..).for_each(|id| drop(self.channels.remove(&id)));
                return Err(bad(text));
            }
        }
        Ok(())
    }

    fn records(&mut self, head: &ChunkHead, source: &mut impl Read, at: u64) -> Result<(), String> {
        let mut content = chunk::open(head, source.take(head.compressed_bytes))?;
        loop {
            match Head::read(&mut content).map_err(|error| error.to_string())? {
                None => return chunk::check(head, content),
                Some(record) if !record.is_known() => {
                    return Err(format!("a record of kind {:#04x} in it", record.opcode))
                }
                Some(record) => self.record(record, &mut content, at).map_err(|error| error.to_string())?,
            }
        }
    }

    /// Passes on the messages that were kept.
    fn commit(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        for Pending { channel, message, data } in pending.drain(..) {
            let Some(topic) = self.number(channel) else { continue };
            self.bag.count(message.log_ns);
            (self.on_message)(BagMessage { topic, ..message }, &data);
        }
        // The buffer is used again.
        self.pending = pending;
    }

    /// Number of the topic of a channel.
    fn number(&mut self, channel: u16) -> Option<u32> {
        let known = self.channels.get_mut(&channel)?;
        if known.number.is_none() {
            let key = (known.topic.name.clone(), known.topic.datatype.clone());
            let topics = &mut self.bag.topics;
            known.number = Some(*self.topics.entry(key).or_insert_with(|| {
                topics.push(known.topic.clone());
                topics.len() as u32 - 1
            }));
        }
        known.number
    }

    /// Notes damage, after which another stretch of messages begins.
    fn say(&mut self, fault: Fault) {
        self.stretch += 1;
        self.bag.problems.add(fault.name, &self.path, fault.at, || fault.text);
    }
}

fn unreadable(at: u64, error: &io::Error) -> Fault {
    Fault { name: "unreadable", at, text: error.to_string() }
}

fn skip(bytes: &mut impl Read) -> io::Result<()> {
    io::copy(bytes, &mut io::sink()).map(drop)
}
