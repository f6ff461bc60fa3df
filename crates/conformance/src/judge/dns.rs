//! The result of a vector for DNS servers: the answer that came, compared with the one that must come. The header, the question, the size and the
//! answer section are always compared.

use super::result::{ControlFrames, VectorJudgement};
use super::{FieldDifference, JudgedFrame};
use crate::dns::{
    DnsExpectation, DnsMessage, DnsQuery, DnsRecord, DnsWording, EdnsExpectation, ExpectedRecord,
    ExpectedSection, HeaderFlag, MessageSection, ResolvedExchange,
};
use sixbench_method::trial::VectorResult;

/// The answer to a query, if one came.
#[derive(Clone, Debug)]
pub enum DnsAnswer {
    /// Nothing, in two attempts.
    Nothing,
    /// A message with the identifier of the query that cannot be read, and the reason.
    Malformed(String),
    /// An answer.
    Message(DnsMessage),
}

/// The facts of an exchange with a server.
#[derive(Clone, Debug)]
pub struct DnsOutcome {
    /// The answer.
    pub answer: DnsAnswer,
    /// The time since the server may first have put records of the vector into its cache, in whole seconds, rounded up.
    pub age: u32,
    /// The result of the control queries around the query.
    pub control: ControlFrames,
    /// The questions that the authority was asked although it must not be, in words.
    pub forbidden_questions: Vec<String>,
}

/// Returns the result of a vector.
pub fn judge_dns(exchange: &ResolvedExchange, outcome: &DnsOutcome) -> VectorJudgement {
    let has_asked = !outcome.forbidden_questions.is_empty();
    let message = match (&outcome.answer, outcome.control) {
        (DnsAnswer::Message(message), _) => message,
        // What the authority was asked is known, whatever became of the answer.
        (DnsAnswer::Nothing, _) if has_asked => {
            return forbidden(outcome, lines_of(&exchange.expect, None));
        }
        (DnsAnswer::Malformed(reason), _) => return unreadable(exchange, reason),
        (DnsAnswer::Nothing, ControlFrames::Came) => {
            return unanswered(exchange, VectorResult::NoAnswer);
        }
        (DnsAnswer::Nothing, ControlFrames::Lost) => {
            return unanswered(exchange, VectorResult::Unknown);
        }
    };
    let comparison = AnswerComparison {
        query: &exchange.query,
        wording: exchange.wording(),
        message,
        age: outcome.age,
    };
    let frames = comparison.verdicts(&exchange.expect);
    if has_asked {
        return forbidden(outcome, frames);
    }
    if is_met(&frames) {
        return judgement(VectorResult::Right, None, frames);
    }
    match allowed(exchange, &comparison) {
        Some(alternative) => VectorJudgement {
            alternative: Some(alternative),
            ..judgement(VectorResult::Allowed, None, frames)
        },
        None => judgement(VectorResult::Wrong, None, frames),
    }
}

/// Returns the name of the first alternative that the answer meets.
fn allowed(exchange: &ResolvedExchange, comparison: &AnswerComparison<'_>) -> Option<String> {
    let mut alternatives = exchange.allowed.iter();
    let met = alternatives.find(|one| is_met(&comparison.verdicts(&one.expect)))?;
    Some(met.name.clone())
}

/// Returns the judgement of a server that asked the authority what it must not ask.
fn forbidden(outcome: &DnsOutcome, frames: Vec<JudgedFrame>) -> VectorJudgement {
    let asked = outcome.forbidden_questions.join(", ");
    let reason = format!("the server asked the authority for {asked}");
    judgement(VectorResult::Wrong, Some(reason), frames)
}

fn judgement(
    result: VectorResult,
    reason: Option<String>,
    frames: Vec<JudgedFrame>,
) -> VectorJudgement {
    VectorJudgement {
        result,
        alternative: None,
        reason,
        frames,
        steps: Vec::new(),
    }
}

/// Returns the result of a vector whose query got no answer.
fn unanswered(exchange: &ResolvedExchange, result: VectorResult) -> VectorJudgement {
    judgement(result, None, lines_of(&exchange.expect, None))
}

fn unreadable(exchange: &ResolvedExchange, reason: &str) -> VectorJudgement {
    let came = format!("a message that cannot be read: {reason}");
    let frames = lines_of(&exchange.expect, Some(came));
    judgement(VectorResult::Wrong, None, frames)
}

/// Returns what is expected where there is no message to compare it with.
fn lines_of(expectation: &DnsExpectation, came: Option<String>) -> Vec<JudgedFrame> {
    let header = JudgedFrame {
        expected: Some(expectation.header_text.clone()),
        came,
        differences: Vec::new(),
    };
    let records = expectation.answer.records.iter().map(|record| JudgedFrame {
        expected: Some(record.text.clone()),
        came: None,
        differences: Vec::new(),
    });
    [header].into_iter().chain(records).collect()
}

fn is_met(frames: &[JudgedFrame]) -> bool {
    frames.iter().all(|frame| {
        frame.expected.is_some() && frame.came.is_some() && frame.differences.is_empty()
    })
}

/// Compares one answer with expectations.
struct AnswerComparison<'a> {
    query: &'a DnsQuery,
    wording: DnsWording<'a>,
    message: &'a DnsMessage,
    age: u32,
}

impl AnswerComparison<'_> {
    /// Returns the header, and then the records of each section that is compared: those that are expected, and those that are not.
    fn verdicts(&self, expectation: &DnsExpectation) -> Vec<JudgedFrame> {
        let mut verdicts = vec![JudgedFrame {
            expected: Some(expectation.header_text.clone()),
            came: Some(self.wording.header(self.message)),
            differences: self.header_differences(expectation),
        }];
        let sections = [
            (MessageSection::Answer, Some(&expectation.answer)),
            (MessageSection::Authority, expectation.authority.as_ref()),
            (MessageSection::Additional, expectation.additional.as_ref()),
        ];
        for (section, expected) in sections {
            if let Some(expected) = expected {
                verdicts.extend(self.section(expected, self.message.section(section)));
            }
        }
        verdicts
    }

    fn header_differences(&self, expectation: &DnsExpectation) -> Vec<FieldDifference> {
        let mut differences = Vec::new();
        let status = self.message.rcode;
        if let Some(rcode) = expectation.rcode
            && u16::from(rcode.to_int()) != status.to_int()
        {
            differences.push(FieldDifference::new("status", rcode, status));
        }
        for (flag, is_set) in self.expected_flags(expectation) {
            if self.message.has(flag) != is_set {
                let field = format!("flag {}", flag.name());
                let came = self.message.has(flag);
                differences.push(FieldDifference::new(
                    field,
                    set_word(is_set),
                    set_word(came),
                ));
            }
        }
        differences.extend(self.question_difference());
        differences.extend(self.size_difference());
        differences.extend(self.edns_difference(expectation));
        differences
    }

    /// Returns the flags that are compared. A response has QR, copies RD, and is not truncated unless the vector says so (RFC 1035 section 4.1.1).
    fn expected_flags(&self, expectation: &DnsExpectation) -> Vec<(HeaderFlag, bool)> {
        let usual = [
            (HeaderFlag::Response, true),
            (HeaderFlag::RecursionDesired, true),
            (HeaderFlag::Truncated, false),
        ];
        let is_named = |flag: HeaderFlag| expectation.flags.iter().any(|named| named.flag == flag);
        let named = expectation.flags.iter();
        usual
            .into_iter()
            .filter(|(flag, _)| !is_named(*flag))
            .chain(named.map(|named| (named.flag, named.is_set)))
            .collect()
    }

    /// Returns the difference of the question, which a server copies octet for octet (RFC 6147 section 5.4).
    fn question_difference(&self) -> Option<FieldDifference> {
        let DnsQuery {
            name, rtype, class, ..
        } = self.query;
        let asked = format!("{name}. {class} {rtype}");
        let came = match &self.message.question {
            Some((name, rtype, class)) => format!("{name}. {class} {rtype}"),
            None => "none, or several".to_owned(),
        };
        (asked != came).then(|| FieldDifference::new("question", asked, came))
    }

    /// Returns the difference of an answer that is longer than the query allows.
    fn size_difference(&self) -> Option<FieldDifference> {
        let (largest, length) = (self.query.largest_answer(), self.message.length);
        (length > largest)
            .then(|| FieldDifference::new("size", format!("at most {largest} octets"), length))
    }

    /// Returns the difference of the OPT record.
    fn edns_difference(&self, expectation: &DnsExpectation) -> Option<FieldDifference> {
        let came = self.message.edns;
        let (expected, is_met) = match expectation.edns? {
            EdnsExpectation::Absent => ("none", came.is_none()),
            EdnsExpectation::Present(dnssec_ok) => {
                let expected = match dnssec_ok {
                    None => "version 0",
                    Some(true) => "version 0, do",
                    Some(false) => "version 0, without do",
                };
                let is_met = came.is_some_and(|edns| {
                    edns.version == 0 && dnssec_ok.is_none_or(|bit| bit == edns.is_dnssec_ok)
                });
                (expected, is_met)
            }
        };
        let came = came.map_or("none".to_owned(), |edns| {
            let bit = if edns.is_dnssec_ok { ", do" } else { "" };
            format!("version {}{bit}", edns.version)
        });
        (!is_met).then(|| FieldDifference::new("EDNS", expected, came))
    }

    /// Compares a section. Expected records take the nearest record one after the other, so exact ones should come before those with any data.
    fn section(&self, expected: &ExpectedSection, came: &[DnsRecord]) -> Vec<JudgedFrame> {
        let mut left: Vec<&DnsRecord> = came.iter().collect();
        let mut verdicts = Vec::new();
        for record in &expected.records {
            verdicts.push(self.take_nearest(record, &mut left));
        }
        let unexpected = left
            .into_iter()
            .filter(|record| !expected.allows_more || expected.forbidden.contains(&record.rtype()));
        verdicts.extend(unexpected.map(|record| JudgedFrame {
            expected: None,
            came: Some(self.wording.record(record)),
            differences: Vec::new(),
        }));
        verdicts
    }

    /// Takes the record that differs least from the expected one, among those of its type.
    fn take_nearest(&self, expected: &ExpectedRecord, left: &mut Vec<&DnsRecord>) -> JudgedFrame {
        let nearest = left
            .iter()
            .enumerate()
            .filter(|(_, record)| record.rtype() == expected.rtype)
            .map(|(at, record)| (at, self.record_differences(expected, record)))
            .min_by_key(|(_, differences)| differences.len());
        let (came, differences) = match nearest {
            Some((at, differences)) => (Some(self.wording.record(left.remove(at))), differences),
            None => (None, Vec::new()),
        };
        JudgedFrame {
            expected: Some(expected.text.clone()),
            came,
            differences,
        }
    }

    fn record_differences(
        &self,
        expected: &ExpectedRecord,
        came: &DnsRecord,
    ) -> Vec<FieldDifference> {
        let mut differences = Vec::new();
        if expected.owner != *came.owner() {
            let (expected, came) = (
                self.wording.name(&expected.owner),
                self.wording.name(came.owner()),
            );
            differences.push(FieldDifference::new("owner", expected, came));
        }
        if self.query.class != came.class() {
            differences.push(FieldDifference::new(
                "class",
                self.query.class,
                came.class(),
            ));
        }
        let ttl = came.ttl().as_secs();
        if !expected.ttl.allows(ttl, self.age) {
            // The text is OWNER TTL TYPE DATA, without a class.
            let rule = expected.text.split_whitespace().nth(1);
            differences.push(FieldDifference::new("ttl", rule.unwrap_or_default(), ttl));
        }
        if let Some(data) = &expected.data
            && data != came.data()
        {
            let words: Vec<&str> = expected.text.split_whitespace().skip(3).collect();
            let data = self.wording.data(came);
            differences.push(FieldDifference::new("data", words.join(" "), data));
        }
        differences
    }
}

fn set_word(is_set: bool) -> &'static str {
    if is_set { "set" } else { "clear" }
}
