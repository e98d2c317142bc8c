//! Values of rows as Parquet columns. A plain type makes a REQUIRED column, an `Option` an OPTIONAL one, a `Vec` a LIST.

use crate::tables::{CallbackKind, CauseKind, LinkEvidence, LinkRule, Delivery, EndpointKind, LostIn, OffCpu};
use parquet::basic::{LogicalType, Repetition};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;
use parquet::file::writer::SerializedRowGroupWriter;
use parquet::schema::types::Type;
use std::fs::File;
use std::sync::Arc;

/// A value that one Parquet value holds.
pub(super) trait Value: Sized {
    type Stored: DataType;
    fn logical() -> Option<LogicalType>;
    fn store(&self) -> <Self::Stored as DataType>::T;
    fn restore(stored: <Self::Stored as DataType>::T) -> Result<Self, ParquetError>;
}

/// Values of one column, with their definition and repetition levels (the Dremel encoding, Parquet format, "Nested Encoding").
pub(super) struct Levels<D: DataType> {
    values: Vec<D::T>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

/// One row's part of a column.
pub(super) trait Cell: Sized {
    type Stored: DataType;
    fn schema(name: &str) -> Result<Type, ParquetError>;
    fn write(&self, levels: &mut Levels<Self::Stored>);
    fn read(levels: Levels<Self::Stored>) -> Result<Vec<Self>, ParquetError>;
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
value!(i64, Int64Type, None, v => *v, s => Ok(s));
value!(f64, DoubleType, None, v => *v, s => Ok(s));
value!(bool, BoolType, None, v => *v, s => Ok(s));
value!(String, ByteArrayType, Some(LogicalType::String), v => ByteArray::from(v.as_bytes().to_vec()), s => Ok(s.as_utf8()?.to_string()));

/// Enumerations are stored as the words that JSON has for them.
macro_rules! word {
    ($($type:ty),*) => {
        $(value!($type, ByteArrayType, Some(LogicalType::String),
            v => ByteArray::from(serde_json::to_value(v).ok().and_then(|w| Some(w.as_str()?.as_bytes().to_vec())).unwrap_or_default()),
            s => serde_json::from_value(s.as_utf8()?.into()).map_err(|e| ParquetError::General(e.to_string())));)*
    };
}
word!(EndpointKind, CallbackKind, Delivery, LostIn, OffCpu, LinkRule, LinkEvidence, CauseKind);

fn primitive<V: Value>(name: &str, repetition: Repetition) -> Result<Type, ParquetError> {
    Type::primitive_type_builder(name, V::Stored::get_physical_type())
        .with_repetition(repetition)
        .with_logical_type(V::logical())
        .build()
}

impl<V: Value> Cell for V {
    type Stored = V::Stored;
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
    fn schema(name: &str) -> Result<Type, ParquetError> {
        primitive::<V>(name, Repetition::OPTIONAL)
    }
    fn write(&self, levels: &mut Levels<V::Stored>) {
        levels.definition.push(self.is_some().into());
        levels.values.extend(self.as_ref().map(V::store));
    }
    fn read(levels: Levels<V::Stored>) -> Result<Vec<Option<V>>, ParquetError> {
        let mut values = levels.values.into_iter();
        let cell = |defined: i16| match defined {
            0 => Ok(None),
            _ => values.next().ok_or_else(short).and_then(V::restore).map(Some),
        };
        levels.definition.into_iter().map(cell).collect()
    }
}

impl<V: Value> Cell for Vec<V> {
    type Stored = V::Stored;
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

/// Reads the columns of a row group, one after the other.
pub(super) struct Columns<'a> {
    group: &'a dyn RowGroupReader,
    rows: usize,
    next: usize,
}

impl<'a> Columns<'a> {
    pub(super) fn new(group: &'a dyn RowGroupReader, rows: usize) -> Self {
        Columns { group, rows, next: 0 }
    }

    pub(super) fn next<C: Cell>(&mut self, name: &str) -> Result<Vec<C>, ParquetError> {
        let (index, metadata) = (self.next, self.group.metadata());
        self.next += 1;
        let found = (index < metadata.num_columns()).then(|| metadata.column(index).column_descr());
        let other = |found: &str| ParquetError::General(format!("column {index}: found {found}, expected {name}"));
        let found = found.ok_or_else(|| other("none"))?;
        if found.path().parts().first().map(String::as_str) != Some(name) {
            return Err(other(&found.path().string()));
        }
        let reader = self.group.get_column_reader(index)?;
        let mut reader = C::Stored::get_column_reader(reader).ok_or_else(|| other("another type"))?;
        let mut levels = Levels { values: Vec::new(), definition: Vec::new(), repetition: Vec::new() };
        let mut read = 0;
        while read < self.rows {
            let (records, ..) = reader.read_records(
                self.rows - read,
                (found.max_def_level() > 0).then_some(&mut levels.definition),
                (found.max_rep_level() > 0).then_some(&mut levels.repetition),
                &mut levels.values,
            )?;
            if records == 0 {
                return Err(short());
            }
            read += records;
        }
        C::read(levels)
    }
}

/// Fewer values than rows.
pub(super) fn short() -> ParquetError {
    ParquetError::EOF("a column ends before its rows do".into())
}
