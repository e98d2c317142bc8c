//! Values of rows as Parquet columns. A plain type makes a REQUIRED column, an `Option` an OPTIONAL one, a `Vec` a
//! LIST.

use crate::maybe_ns::MaybeNs;
use crate::row::Row;
use crate::{
    CallbackKind, CauseKind, Delivery, EndpointKind, GoalOutcome, LinkEvidence, LinkRule, LostIn, Name, OffCpu,
};
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{AsBytes, BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::RowGroupReader;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::Type;
use std::fs::File;
use std::sync::{Arc, OnceLock};

/// A value that one Parquet value holds.
pub(super) trait Value: Sized {
    type Stored: DataType;
    /// The table of which it is a row.
    const TABLE: Option<&'static str> = None;
    fn logical() -> Option<LogicalType>;
    fn store(&self) -> <Self::Stored as DataType>::T;
    fn restore(stored: <Self::Stored as DataType>::T) -> Result<Self, ParquetError>;
}

/// Values of one column, with their definition and repetition levels (the Dremel encoding, Parquet format, "Nested
/// Encoding").
pub(super) struct Levels<D: DataType> {
    values: Vec<D::T>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

/// One row's part of a column.
pub(super) trait Cell: Sized {
    type Stored: DataType;
    /// The table whose rows it holds.
    const TABLE: Option<&'static str>;
    fn schema(name: &str) -> Result<Type, ParquetError>;
    fn write(&self, levels: &mut Levels<Self::Stored>);
    fn read(levels: Levels<Self::Stored>) -> Result<Vec<Self>, ParquetError>;
    /// Bytes of the text that a stored value is.
    fn text_bytes(stored: &<Self::Stored as DataType>::T) -> usize {
        match Self::Stored::get_physical_type() {
            PhysicalType::BYTE_ARRAY => stored.as_bytes().len(),
            _ => 0,
        }
    }
    /// What stands in for it in a run of a time before the column was: nothing was measured. None where there is no way
    /// to say so.
    fn absent() -> Option<Self> {
        None
    }
}

macro_rules! value {
    ($type:ty, $Stored:ty, $logical:expr, $value:ident => $store:expr, $stored:ident => $restore:expr) => {
        impl Value for $type {
            type Stored = $Stored;
            fn logical() -> Option<LogicalType> {
                $logical
            }
            fn store(&self) -> <$Stored as DataType>::T {
                let $value = self;
                $store
            }
            fn restore($stored: <$Stored as DataType>::T) -> Result<Self, ParquetError> {
                $restore
            }
        }
    };
}
value!(u32, Int32Type, Some(LogicalType::integer(32, false)), v => *v as i32, s => Ok(s as u32));
value!(u64, Int64Type, Some(LogicalType::integer(64, false)), v => *v as i64, s => Ok(s as u64));
impl<T: super::Row> Value for Row<T> {
    type Stored = Int32Type;
    const TABLE: Option<&'static str> = Some(T::NAME);
    fn logical() -> Option<LogicalType> {
        u32::logical()
    }
    fn store(&self) -> i32 {
        self.number().store()
    }
    fn restore(stored: i32) -> Result<Self, ParquetError> {
        match u32::restore(stored)? {
            u32::MAX => Err(ParquetError::General(format!("found row {}, expected a row of less", u32::MAX))),
            number => Ok(Row::new(number)),
        }
    }
}
value!(i64, Int64Type, None, v => *v, s => Ok(s));
value!(f64, DoubleType, None, v => *v, s => Ok(s));
value!(bool, BoolType, None, v => *v, s => Ok(s));
value!(String, ByteArrayType, Some(LogicalType::String),
    v => ByteArray::from(v.as_bytes().to_vec()),
    s => Ok(s.as_utf8()?.to_string()));
value!(Name, ByteArrayType, Some(LogicalType::String), v => ByteArray::from(v.as_str()), s => Ok(s.as_utf8()?.into()));

/// Enumerations are stored as the words that JSON has for them.
/// Words of one column.
const MOST_WORDS: usize = 64;

macro_rules! word {
    ($($type:ty),*) => {
        $(value!($type, ByteArrayType, Some(LogicalType::String),
            v => {
                // Each word is made once: a table has hundreds of thousands of them.
                static WORDS: [OnceLock<ByteArray>; MOST_WORDS] = [const { OnceLock::new() }; MOST_WORDS];
                let made = || {
                    let word = serde_json::to_value(v).ok();
                    ByteArray::from(word.and_then(|w| Some(w.as_str()?.as_bytes().to_vec())).unwrap_or_default())
                };
                WORDS[*v as usize].get_or_init(made).clone()
            },
            s => serde_json::from_value(s.as_utf8()?.into()).map_err(|e| ParquetError::General(e.to_string())));)*
    };
}
word!(EndpointKind, CallbackKind, Delivery, LostIn, OffCpu, LinkRule, LinkEvidence, CauseKind, GoalOutcome);

fn primitive<V: Value>(name: &str, repetition: Repetition) -> Result<Type, ParquetError> {
    Type::primitive_type_builder(name, V::Stored::get_physical_type())
        .with_repetition(repetition)
        .with_logical_type(V::logical())
        .build()
}

impl<V: Value> Cell for V {
    type Stored = V::Stored;
    const TABLE: Option<&'static str> = V::TABLE;
    fn schema(name: &str) -> Result<Type, ParquetError> {
        primitive::<V>(name, Repetition::REQUIRED)
    }
    fn write(&self, levels: &mut Levels<V::Stored>) {
        levels.values.push(self.store());
    }
    fn read(levels: Levels<V::Stored>) -> Result<Vec<V>, ParquetError> {
        levels.values.into_iter().map(V::restore).collect()
    }
}

impl<V: Value> Cell for Option<V> {
    type Stored = V::Stored;
    const TABLE: Option<&'static str> = V::TABLE;
    fn schema(name: &str) -> Result<Type, ParquetError> {
        primitive::<V>(name, Repetition::OPTIONAL)
    }
    fn write(&self, levels: &mut Levels<V::Stored>) {
        levels.definition.push(self.is_some().into());
        levels.values.extend(self.as_ref().map(V::store));
    }
    fn read(levels: Levels<V::Stored>) -> Result<Vec<Option<V>>, ParquetError> {
        // REQUIRED in a table of a time before it could be absent.
        if levels.definition.is_empty() {
            return levels.values.into_iter().map(|value| V::restore(value).map(Some)).collect();
        }
        let mut values = levels.values.into_iter();
        let cell = |defined: i16| match defined {
            0 => Ok(None),
            _ => values.next().ok_or_else(short).and_then(V::restore).map(Some),
        };
        levels.definition.into_iter().map(cell).collect()
    }
    fn absent() -> Option<Option<V>> {
        Some(None)
    }
}

impl Cell for MaybeNs {
    type Stored = Int64Type;
    const TABLE: Option<&'static str> = None;
    fn schema(name: &str) -> Result<Type, ParquetError> {
        <Option<i64>>::schema(name)
    }
    fn write(&self, levels: &mut Levels<Int64Type>) {
        self.get().write(levels);
    }
    fn read(levels: Levels<Int64Type>) -> Result<Vec<MaybeNs>, ParquetError> {
        Ok(<Option<i64>>::read(levels)?.into_iter().map(MaybeNs::from).collect())
    }
    fn absent() -> Option<MaybeNs> {
        Some(MaybeNs::NONE)
    }
}

impl<V: Value> Cell for Vec<V> {
    type Stored = V::Stored;
    const TABLE: Option<&'static str> = V::TABLE;
    fn schema(name: &str) -> Result<Type, ParquetError> {
        let element = Arc::new(primitive::<V>("element", Repetition::REQUIRED)?);
        let list = Type::group_type_builder("list")
            .with_repetition(Repetition::REPEATED)
            .with_fields(vec![element])
            .build()?;
        Type::group_type_builder(name)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::List))
            .with_fields(vec![Arc::new(list)])
            .build()
    }
    fn write(&self, levels: &mut Levels<V::Stored>) {
        // An empty list is one undefined entry.
        for position in 0..self.len().max(1) {
            levels.repetition.push((position > 0).into());
            levels.definition.push((!self.is_empty()).into());
        }
        levels.values.extend(self.iter().map(V::store));
    }
    fn read(levels: Levels<V::Stored>) -> Result<Vec<Vec<V>>, ParquetError> {
        let mut values = levels.values.into_iter();
        let mut rows: Vec<Vec<V>> = Vec::new();
        for (defined, repeated) in levels.definition.into_iter().zip(levels.repetition) {
            if repeated == 0 {
                rows.push(Vec::new());
            }
            if defined > 0 {
                let value = V::restore(values.next().ok_or_else(short)?)?;
                rows.last_mut().ok_or_else(short)?.push(value);
            }
        }
        Ok(rows)
    }
    fn absent() -> Option<Vec<V>> {
        Some(Vec::new())
    }
}

/// Writes the next column of a row group.
pub(super) fn write<'a, C: Cell + 'a>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    cells: impl Iterator<Item = &'a C>,
) -> Result<(), ParquetError> {
    let mut levels = Levels { values: Vec::new(), definition: Vec::new(), repetition: Vec::new() };
    cells.for_each(|cell| cell.write(&mut levels));
    let mut column = group.next_column()?.ok_or_else(short)?;
    let given = |levels: &Vec<i16>| !levels.is_empty();
    column.typed::<C::Stored>().write_batch(
        &levels.values,
        Some(levels.definition.as_slice()).filter(|_| given(&levels.definition)),
        Some(levels.repetition.as_slice()).filter(|_| given(&levels.repetition)),
    )?;
    column.close()
}

/// Reads the columns of a row group by their names: one that this tacho does not know is passed over.
pub(super) struct Columns<'a> {
    group: &'a dyn RowGroupReader,
}

/// A column that is read some rows at a time; without a reader it is absent.
pub(super) struct Column<C: Cell> {
    reader: Option<ColumnReaderImpl<C::Stored>>,
    is_optional: bool,
    is_list: bool,
}

/// Text that one table may have, in all its rows: of a name that stands in the file once there may be a copy a row.
pub(super) const MOST_TEXT_BYTES: usize = 1 << 30;
/// Elements that all lists of a row group may have.
const MOST_ELEMENTS: i64 = 1 << 26;

impl<'a> Columns<'a> {
    pub(super) fn new(group: &'a dyn RowGroupReader) -> Self {
        Columns { group }
    }

    pub(super) fn open<C: Cell>(&self, name: &str) -> Result<Column<C>, ParquetError> {
        let columns = self.group.metadata().columns();
        let named =
            |column: &ColumnChunkMetaData| column.column_path().parts().first().is_some_and(|first| first == name);
        let Some(index) = columns.iter().position(named) else {
            let absent = C::absent().map(|_| Column { reader: None, is_optional: false, is_list: false });
            return absent.ok_or_else(|| {
                ParquetError::General(format!(
                    "it has no column {name}, which tacho {} needs",
                    env!("CARGO_PKG_VERSION")
                ))
            });
        };
        let found = columns[index].column_descr();
        let other = || {
            ParquetError::General(format!(
                "column {name} is of another type than tacho {} expects",
                env!("CARGO_PKG_VERSION")
            ))
        };
        if found.physical_type() != C::Stored::get_physical_type() {
            return Err(other());
        }
        let (is_optional, is_list) = (found.max_def_level() > 0, found.max_rep_level() > 0);
        if is_list && columns[index].num_values() > MOST_ELEMENTS {
            let found = columns[index].num_values();
            return Err(ParquetError::General(format!(
                "lists of {found} elements in column {name}; expected at most {MOST_ELEMENTS}"
            )));
        }
        let reader = self.group.get_column_reader(index)?;
        Ok(Column { reader: Some(C::Stored::get_column_reader(reader).ok_or_else(other)?), is_optional, is_list })
    }
}

impl<C: Cell> Column<C> {
    /// The next rows, and the bytes of their texts off those that are left.
    pub(super) fn read(&mut self, rows: usize, text_left: &mut usize) -> Result<Vec<C>, ParquetError> {
        let Some(reader) = &mut self.reader else {
            return (0..rows).map(|_| C::absent()).collect::<Option<Vec<C>>>().ok_or_else(short);
        };
        let mut levels = Levels { values: Vec::new(), definition: Vec::new(), repetition: Vec::new() };
        let mut read = 0;
        while read < rows {
            let (records, ..) = reader.read_records(
                rows - read,
                self.is_optional.then_some(&mut levels.definition),
                self.is_list.then_some(&mut levels.repetition),
                &mut levels.values,
            )?;
            if records == 0 {
                return Err(short());
            }
            read += records;
        }
        let text: usize = levels.values.iter().map(C::text_bytes).sum();
        *text_left = text_left.checked_sub(text).ok_or_else(|| {
            ParquetError::General(format!(
                "texts of more than {MOST_TEXT_BYTES} bytes in all its rows; expected at most so many"
            ))
        })?;
        C::read(levels)
    }
}

/// Fewer values than rows.
pub(super) fn short() -> ParquetError {
    ParquetError::EOF("a column ends before its rows do".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::file::writer::SerializedFileWriter;

    #[test]
    fn a_column_that_may_be_absent_by_now_is_read_from_a_table_in_which_it_could_not() {
        let mut file = tempfile::tempfile().expect("file");
        let columns = vec![Arc::new(i64::schema("a").expect("a")), Arc::new(<Option<u32>>::schema("b").expect("b"))];
        let schema = Arc::new(Type::group_type_builder("table").with_fields(columns).build().expect("schema"));
        let mut writer =
            SerializedFileWriter::new(file.try_clone().expect("file"), schema, Default::default()).expect("writer");
        let mut group = writer.next_row_group().expect("group");
        write(&mut group, [0i64, -7, 3].iter()).expect("a");
        write(&mut group, [None, Some(5u32), None].iter()).expect("b");
        group.close().expect("group");
        writer.close().expect("file");
        std::io::Seek::rewind(&mut file).expect("file");
        let reader = SerializedFileReader::new(file).expect("reader");
        let group = reader.get_row_group(0).expect("group");
        let columns = Columns::new(&*group);
        assert_eq!(
            columns.open::<Option<i64>>("a").and_then(|mut column| column.read(3, &mut 100)).expect("a"),
            [Some(0), Some(-7), Some(3)]
        );
        assert_eq!(columns.open::<i64>("a").and_then(|mut column| column.read(3, &mut 100)).expect("a"), [0, -7, 3]);
        assert_eq!(
            columns.open::<Option<u32>>("b").and_then(|mut column| column.read(3, &mut 100)).expect("b"),
            [None, Some(5), None]
        );
        assert_eq!(
            columns.open::<Option<u32>>("c").and_then(|mut column| column.read(3, &mut 100)).expect("none"),
            [None; 3]
        );
    }
}
