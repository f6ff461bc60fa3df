//! A vector for DNS servers as it is written, and as it is for one server.

use super::expectation::DnsExpectation;
use super::lines::DnsName;
use super::mistake::DnsMistake;
use super::query::DnsQuery;
use super::symbols::DnsSetting;
use super::wording::DnsWording;
use super::zone::ZoneLine;
use domain::base::iana::Rtype;

/// The TTL of records that have none, and none is given before, in seconds.
const USUAL_TTL: u32 = 3600;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Its text.
    pub text: String,
}

/// The questions that the server may ask the authority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpstreamRule {
    /// Anything.
    #[default]
    Anything,
    /// Nothing about the name of the query, or names below it, except for DS records.
    Nothing,
}

/// An answer that the text allows instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsAlternative {
    /// Its name.
    pub name: String,
    /// The section of the RFC that allows it.
    pub clause: String,
    /// The answer, as lines of dig.
    pub expect: Vec<TextLine>,
}

/// A query, the zone that the authority has for it, and the answer that must come, as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsExchange {
    /// The lines with which the zone of every vector of the file begins.
    pub common: Vec<TextLine>,
    /// The lines of the zone.
    pub zone: Vec<TextLine>,
    /// The query, as arguments of dig.
    pub query: TextLine,
    /// The answer, as lines of dig.
    pub expect: Vec<TextLine>,
    /// The answers that the text allows instead.
    pub allowed: Vec<DnsAlternative>,
    /// The questions that the server may ask the authority.
    pub upstream: UpstreamRule,
    /// True if the vector is only about the Well-Known Prefix.
    pub needs_well_known_prefix: bool,
}

/// A mistake, and the number of its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineMistake {
    pub(crate) line: usize,
    pub(crate) mistake: DnsMistake,
}

/// An alternative for one server.
#[derive(Clone, Debug)]
pub struct ResolvedAlternative {
    /// Its name.
    pub name: String,
    /// The answer.
    pub expect: DnsExpectation,
}

/// A vector for one server.
#[derive(Clone, Debug)]
pub struct ResolvedExchange {
    /// The origin of its zone.
    pub origin: DnsName,
    /// The zone.
    pub zone: Vec<ZoneLine>,
    /// The query.
    pub query: DnsQuery,
    /// The answer that must come.
    pub expect: DnsExpectation,
    /// The answers that the text allows instead.
    pub allowed: Vec<ResolvedAlternative>,
    /// The questions that the server may ask the authority.
    pub upstream: UpstreamRule,
    setting: DnsSetting,
}

impl DnsExchange {
    /// Returns true if the vector says something about a server with this prefix.
    pub fn applies_to(&self, setting: &DnsSetting) -> bool {
        !self.needs_well_known_prefix || setting.has_well_known_prefix()
    }

    /// Returns the vector of this name for one server.
    ///
    /// # Errors
    /// The first mistake: a name is too long with the server's domain. Other mistakes are found when a file is read.
    pub fn resolve(
        &self,
        name: &str,
        setting: &DnsSetting,
    ) -> Result<ResolvedExchange, DnsMistake> {
        let mut mistakes = Vec::new();
        let resolved = self.resolve_noting(name, setting, &mut mistakes);
        match mistakes.into_iter().next() {
            Some(first) => Err(first.mistake),
            None => resolved.ok_or_else(|| DnsMistake::Query(self.query.text.clone())),
        }
    }

    /// Returns the mistakes of the lines.
    pub(crate) fn mistakes(&self, name: &str) -> Vec<LineMistake> {
        let mut mistakes = Vec::new();
        self.resolve_noting(name, &DnsSetting::sample(), &mut mistakes);
        mistakes
    }

    /// Resolves every line, so that all mistakes are noted. `None` if there is one.
    fn resolve_noting(
        &self,
        name: &str,
        setting: &DnsSetting,
        mistakes: &mut Vec<LineMistake>,
    ) -> Option<ResolvedExchange> {
        let origin = noted(setting.origin(name), self.query.number, mistakes)?;
        let mut reader = LineReader {
            setting,
            origin: &origin,
            mistakes,
        };
        let mut zone = reader.zone(&self.common);
        zone.extend(reader.zone(&self.zone));
        let query = reader.query(&self.query);
        let expect = reader.expectation(&self.expect);
        let mut allowed = Vec::new();
        for alternative in &self.allowed {
            if let Some(expect) = reader.expectation(&alternative.expect) {
                let name = alternative.name.clone();
                allowed.push(ResolvedAlternative { name, expect });
            }
        }
        Some(ResolvedExchange {
            zone,
            query: query?,
            expect: expect?,
            allowed,
            upstream: self.upstream,
            setting: setting.clone(),
            origin,
        })
    }
}

impl ResolvedExchange {
    /// Returns true for a name that the vector is about: of its zone, of a line that is not of its zone, or of its query.
    pub fn has_name(&self, name: &DnsName) -> bool {
        let mut owners = self.zone.iter().filter_map(ZoneLine::owner);
        name.ends_with(&self.origin)
            || *name == self.query.name
            || owners.any(|owner| owner == name)
    }

    /// Returns those of the questions to the authority that the server must not ask, in words: about the name of the query, or names below it, except
    /// for DS records (RFC 8880 section 7.1).
    pub fn forbidden_questions(&self, asked: &[(DnsName, Rtype)]) -> Vec<String> {
        if self.upstream == UpstreamRule::Anything {
            return Vec::new();
        }
        asked
            .iter()
            .filter(|(name, rtype)| *rtype != Rtype::DS && name.ends_with(&self.query.name))
            .map(|(name, rtype)| format!("{} {rtype}", self.wording().name(name)))
            .collect()
    }

    /// Returns what describes messages of this vector.
    pub fn wording(&self) -> DnsWording<'_> {
        DnsWording {
            setting: &self.setting,
            origin: &self.origin,
        }
    }
}

/// Reads lines for one vector and one server.
struct LineReader<'a> {
    setting: &'a DnsSetting,
    origin: &'a DnsName,
    mistakes: &'a mut Vec<LineMistake>,
}

impl LineReader<'_> {
    fn zone(&mut self, lines: &[TextLine]) -> Vec<ZoneLine> {
        let mut ttl = USUAL_TTL;
        let mut zone = Vec::new();
        for line in self.generated(lines) {
            let read = self
                .setting
                .expand(&line.text, self.origin)
                .and_then(|text| ZoneLine::parse(&text, self.origin, ttl));
            let Some(read) = noted(read, line.number, self.mistakes) else {
                continue;
            };
            if let ZoneLine::Ttl(seconds) = read {
                ttl = seconds;
            }
            zone.push(read);
        }
        zone
    }

    /// Returns the lines, with each `$GENERATE` replaced by the lines for which it stands.
    fn generated(&mut self, lines: &[TextLine]) -> Vec<TextLine> {
        let mut all = Vec::new();
        for line in lines {
            all.extend(noted(generate(line), line.number, self.mistakes).unwrap_or_default());
        }
        all
    }

    fn query(&mut self, line: &TextLine) -> Option<DnsQuery> {
        let query = self
            .setting
            .expand(&line.text, self.origin)
            .and_then(|text| DnsQuery::parse(&text, self.origin));
        noted(query, line.number, self.mistakes)
    }

    fn expectation(&mut self, lines: &[TextLine]) -> Option<DnsExpectation> {
        let (first, rest) = lines.split_first()?;
        let header = DnsExpectation::parse_header(&first.text);
        let mut expectation = noted(header, first.number, self.mistakes)?;
        let mut section = None;
        for line in self.generated(rest) {
            let read = if line.text.starts_with(";;") {
                expectation
                    .begin_section(&line.text)
                    .map(|begun| section = begun)
            } else {
                self.setting
                    .expand(&line.text, self.origin)
                    .and_then(|text| {
                        let section = section.ok_or(DnsMistake::NoSection(text.clone()))?;
                        expectation.add_line(section, &text, &line.text, self.origin)
                    })
            };
            noted(read, line.number, self.mistakes)?;
        }
        Some(expectation)
    }
}

/// Returns the lines for which one stands: itself, or with `$GENERATE FIRST-LAST LINE`, as in zone files of BIND, the line once for each number, with
/// the number in place of each `$`.
fn generate(line: &TextLine) -> Result<Vec<TextLine>, DnsMistake> {
    let Some(rest) = line.text.strip_prefix("$GENERATE ") else {
        return Ok(vec![line.clone()]);
    };
    let parsed = rest.trim_start().split_once(' ').and_then(|(range, rest)| {
        let (first, last) = range.split_once('-')?;
        Some((first.parse::<u8>().ok()?, last.parse::<u8>().ok()?, rest))
    });
    let (first, last, template) = parsed.ok_or_else(|| DnsMistake::Generate(line.text.clone()))?;
    let lines = (first..=last).map(|number| TextLine {
        number: line.number,
        text: template.trim().replace('$', &number.to_string()),
    });
    Ok(lines.collect())
}

/// Notes a mistake with its line.
fn noted<T>(
    read: Result<T, DnsMistake>,
    line: usize,
    mistakes: &mut Vec<LineMistake>,
) -> Option<T> {
    read.map_err(|mistake| mistakes.push(LineMistake { line, mistake }))
        .ok()
}
