//! Tables as Parquet: the same columns as the CSV files, each with its type. An empty cell is null. Neither compressed nor dated, so that the same rows
//! give the same octets.

use crate::csv::Rows;
use ::parquet::basic::{LogicalType, Repetition, TimeUnit, Type};
use ::parquet::column::writer::ColumnWriter;
use ::parquet::data_type::ByteArray;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type as Schema;
use jiff::Timestamp;
use std::str::FromStr;
use std::sync::Arc;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnKind {
    Text,
    /// 64 bits with a sign.
    Integer,
    /// A double.
    Number,
    Truth,
    /// Milliseconds, UTC.
    Time,
}

impl ColumnKind {
    /// The type of the column of this name. What is not listed here is text: names, words, and what users call their labels.
    fn of(column: &str) -> Self {
        match column {
            "goal_loss_ratio" | "value" => Self::Number,
            "is_at_least" => Self::Truth,
            "run_started" | "run_ended" | "started" => Self::Time,
            "frame_size_octets" | "repetition" | "trial" | "trials" | "invalid_trials" => Self::Integer,
            "cached_percent" | "with_aaaa_percent" | "rate_per_s" => Self::Integer,
            "intended" | "offered" | "received" | "late" | "mistranslated" | "corrupt" | "lost" | "duplicate" | "reordered"
            | "defective" | "misdirected" | "foreign" | "refused" | "late_frames" => Self::Integer,
            of if of.ends_with("_ns") || of.ends_with("_frames_per_s_per_direction") => Self::Integer,
            _ => Self::Text,
        }
    }

    fn physical(self) -> (Type, Option<LogicalType>) {
        match self {
            Self::Text => (Type::BYTE_ARRAY, Some(LogicalType::String)),
            Self::Integer => (Type::INT64, None),
            Self::Number => (Type::DOUBLE, None),
            Self::Truth => (Type::BOOLEAN, None),
            Self::Time => (Type::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
        }
    }
}

/// Returns the rows as a file.
///
/// # Errors
/// A cell that is not of the type of its column: a bug of this crate.
pub(crate) fn parquet(rows: &Rows) -> Result<Vec<u8>, ParquetError> {
    let kinds: Vec<ColumnKind> = rows.columns.iter().map(|column| ColumnKind::of(column)).collect();
    let fields: Result<Vec<_>, _> = rows.columns.iter().zip(&kinds).map(|(name, kind)| field(name, *kind)).collect();
    let schema = Arc::new(Schema::group_type_builder("row").with_fields(fields?).build()?);
    let properties = Arc::new(WriterProperties::builder().set_created_by("sixbench".to_owned()).build());
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, schema, properties)?;
    let mut group = writer.next_row_group()?;
    for (place, kind) in kinds.iter().enumerate() {
        let Some(mut column) = group.next_column()? else { break };
        let cells: Vec<&str> = rows.rows.iter().map(|row| row[place].as_str()).collect();
        write(column.untyped(), *kind, &cells)?;
        column.close()?;
    }
    group.close()?;
    writer.close()?;
    Ok(file)
}

fn field(name: &str, kind: ColumnKind) -> Result<Arc<Schema>, ParquetError> {
    let (physical, logical) = kind.physical();
    let builder = Schema::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    builder.with_logical_type(logical).build().map(Arc::new)
}

fn write(column: &mut ColumnWriter<'_>, kind: ColumnKind, cells: &[&str]) -> Result<(), ParquetError> {
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(!cell.is_empty())).collect();
    let some = || cells.iter().copied().filter(|cell| !cell.is_empty());
    match column {
        ColumnWriter::ByteArrayColumnWriter(column) => {
            let texts: Vec<ByteArray> = some().map(ByteArray::from).collect();
            column.write_batch(&texts, Some(&levels), None)?;
        }
        ColumnWriter::Int64ColumnWriter(column) if kind == ColumnKind::Time => {
            let times: Result<Vec<i64>, _> =
                some().map(|cell| parsed::<Timestamp>(cell).map(Timestamp::as_millisecond)).collect();
            column.write_batch(&times?, Some(&levels), None)?;
        }
        ColumnWriter::Int64ColumnWriter(column) => {
            column.write_batch(&some().map(parsed).collect::<Result<Vec<i64>, _>>()?, Some(&levels), None)?;
        }
        ColumnWriter::DoubleColumnWriter(column) => {
            column.write_batch(&some().map(parsed).collect::<Result<Vec<f64>, _>>()?, Some(&levels), None)?;
        }
        ColumnWriter::BoolColumnWriter(column) => {
            column.write_batch(&some().map(parsed).collect::<Result<Vec<bool>, _>>()?, Some(&levels), None)?;
        }
        _ => return Err(ParquetError::General("a column of a type that no table has".to_owned())),
    }
    Ok(())
}

fn parsed<T: FromStr>(cell: &str) -> Result<T, ParquetError> {
    cell.parse().map_err(|_| ParquetError::General(format!("`{cell}` is not of the type of its column")))
}
