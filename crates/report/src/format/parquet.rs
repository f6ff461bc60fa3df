//! Tables as Parquet: the same columns as the CSV files, each with its type. An empty cell is null. Files have no compression and no date, so that the
//! same rows result in the same octets.

use crate::format::csv::{HostedRow, RunCells};
use ::parquet::basic::{LogicalType, Repetition, TimeUnit, Type};
use ::parquet::column::writer::ColumnWriter;
use ::parquet::data_type::ByteArray;
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type as Schema;
use jiff::Timestamp;
use sixbench_method::trial::AnomalyKind;
use std::borrow::Cow;
use std::io::Write;
use std::str::FromStr;
use std::sync::Arc;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnKind {
    Text,
    /// 64 bits, signed.
    Integer,
    /// A double.
    Number,
    Truth,
    /// Milliseconds, UTC.
    Time,
}

impl ColumnKind {
    /// Returns the type of the column with this name. Columns not listed here are text: names, words, and users' labels.
    fn of(column: &str) -> Self {
        match column {
            "goal_loss_ratio" | "value" => Self::Number,
            "is_at_least" | "is_at_most" => Self::Truth,
            "run_started" | "run_ended" | "started" => Self::Time,
            "frame_size_octets" | "repetition" | "trial" | "trials" | "invalid_trials" => {
                Self::Integer
            }
            "cached_percent" | "with_aaaa_percent" | "rate_per_s" => Self::Integer,
            "intended" | "offered" | "received" | "lost" | "late_frames" => Self::Integer,
            of if AnomalyKind::ALL.iter().any(|kind| kind.name() == of) => Self::Integer,
            of if of.ends_with("_ns") || of.ends_with("_frames_per_s_per_direction") => {
                Self::Integer
            }
            _ => Self::Text,
        }
    }

    fn physical(self) -> (Type, Option<LogicalType>) {
        match self {
            Self::Text => (Type::BYTE_ARRAY, Some(LogicalType::String)),
            Self::Integer => (Type::INT64, None),
            Self::Number => (Type::DOUBLE, None),
            Self::Truth => (Type::BOOLEAN, None),
            Self::Time => (
                Type::INT64,
                Some(LogicalType::timestamp(true, TimeUnit::MILLIS)),
            ),
        }
    }
}

/// A cell of a table. An empty text means no value.
pub(crate) enum ParquetCell<'c> {
    Text(Cow<'c, str>),
    Number(u64),
}

/// A table whose cells are computed when they are written, column by column, since a long run has millions of rows.
pub(crate) struct ColumnTable<T, R> {
    pub(crate) columns: Vec<String>,
    /// The data that all rows share.
    pub(crate) common: T,
    pub(crate) rows: R,
}

/// A row of a table whose rows share a `T`.
pub(crate) trait TableRow<T> {
    /// Returns the cell in the column with this index.
    fn cell<'c>(&'c self, common: &'c T, place: usize) -> ParquetCell<'c>;
}

impl TableRow<RunCells> for HostedRow<'_> {
    fn cell<'c>(&'c self, run: &'c RunCells, place: usize) -> ParquetCell<'c> {
        let (host, row) = self;
        let of_run = || run.behind(host).nth(place - row.len()).unwrap_or_default();
        ParquetCell::Text(Cow::Borrowed(
            row.get(place).map_or_else(of_run, |cell| &**cell),
        ))
    }
}

/// The number of rows that are written together, column by column, and are in memory at a time.
const GROUP: usize = 32_768;

/// Writes the rows as a file.
///
/// # Errors
/// A cell does not have the type of its column, which is a bug in this crate; or the file cannot be written.
pub(crate) fn parquet<T, R: TableRow<T>>(
    table: ColumnTable<T, impl Iterator<Item = R>>,
    file: impl Write + Send,
) -> Result<(), ParquetError> {
    let ColumnTable {
        columns,
        common,
        rows,
    } = table;
    let kinds: Vec<ColumnKind> = columns
        .iter()
        .map(|column| ColumnKind::of(column))
        .collect();
    let fields: Result<Vec<_>, _> = columns
        .iter()
        .zip(&kinds)
        .map(|(name, kind)| field(name, *kind))
        .collect();
    let schema = Arc::new(
        Schema::group_type_builder("row")
            .with_fields(fields?)
            .build()?,
    );
    let properties = Arc::new(
        WriterProperties::builder()
            .set_created_by("sixbench".to_owned())
            .build(),
    );
    let mut writer = SerializedFileWriter::new(file, schema, properties)?;
    let mut all = rows.peekable();
    // Even a file without rows has a group.
    let mut is_first = true;
    while is_first || all.peek().is_some() {
        let part: Vec<R> = all.by_ref().take(GROUP).collect();
        let mut group = writer.next_row_group()?;
        for (place, kind) in kinds.iter().enumerate() {
            let Some(mut column) = group.next_column()? else {
                break;
            };
            let cells: Vec<ParquetCell<'_>> =
                part.iter().map(|row| row.cell(&common, place)).collect();
            write(column.untyped(), *kind, &cells)?;
            column.close()?;
        }
        group.close()?;
        is_first = false;
    }
    writer.close()?;
    Ok(())
}

fn field(name: &str, kind: ColumnKind) -> Result<Arc<Schema>, ParquetError> {
    let (physical, logical) = kind.physical();
    let builder =
        Schema::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    builder.with_logical_type(logical).build().map(Arc::new)
}

fn write(
    column: &mut ColumnWriter<'_>,
    kind: ColumnKind,
    cells: &[ParquetCell<'_>],
) -> Result<(), ParquetError> {
    match column {
        ColumnWriter::ByteArrayColumnWriter(column) => {
            let (texts, levels) = values(cells, |cell| Ok(Some(ByteArray::from(&*cell.text()))))?;
            column.write_batch(&texts, Some(&levels), None)?;
        }
        ColumnWriter::Int64ColumnWriter(column) => {
            let (numbers, levels) = values(
                cells,
                if kind == ColumnKind::Time {
                    time
                } else {
                    integer
                },
            )?;
            column.write_batch(&numbers, Some(&levels), None)?;
        }
        ColumnWriter::DoubleColumnWriter(column) => {
            let (numbers, levels) = values(cells, |cell| parsed(&cell.text()).map(Some))?;
            column.write_batch(&numbers, Some(&levels), None)?;
        }
        ColumnWriter::BoolColumnWriter(column) => {
            let (truths, levels) = values(cells, |cell| parsed(&cell.text()).map(Some))?;
            column.write_batch(&truths, Some(&levels), None)?;
        }
        _ => {
            return Err(ParquetError::General(
                "a column of a type that no table has".to_owned(),
            ));
        }
    }
    Ok(())
}

impl ParquetCell<'_> {
    fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }

    fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Number(number) => Cow::Owned(number.to_string()),
        }
    }
}

/// Returns the values of the non-empty cells, and for each cell whether it has one.
fn values<T>(
    cells: &[ParquetCell<'_>],
    read: impl Fn(&ParquetCell<'_>) -> Result<Option<T>, ParquetError>,
) -> Result<(Vec<T>, Vec<i16>), ParquetError> {
    let read = |cell: &ParquetCell<'_>| {
        if cell.is_empty() {
            Ok(None)
        } else {
            read(cell)
        }
    };
    let values = cells
        .iter()
        .map(read)
        .collect::<Result<Vec<Option<T>>, _>>()?;
    let levels = values
        .iter()
        .map(|value| i16::from(value.is_some()))
        .collect();
    Ok((values.into_iter().flatten().collect(), levels))
}

/// Returns a time in milliseconds; no value if the text is not a time, as may happen in a file edited by hand.
fn time(cell: &ParquetCell<'_>) -> Result<Option<i64>, ParquetError> {
    Ok(cell.text().parse().ok().map(Timestamp::as_millisecond))
}

/// Returns an integer; no value if a count exceeds the type's range, although `results.csv` has it.
fn integer(cell: &ParquetCell<'_>) -> Result<Option<i64>, ParquetError> {
    let number: i128 = match cell {
        ParquetCell::Text(text) => parsed(text)?,
        ParquetCell::Number(number) => i128::from(*number),
    };
    Ok(number.try_into().ok())
}

fn parsed<T: FromStr>(cell: &str) -> Result<T, ParquetError> {
    cell.parse()
        .map_err(|_| ParquetError::General(format!("`{cell}` is not of the type of its column")))
}
