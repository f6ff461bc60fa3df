//! The memory that both ends share: regions, which are memory files of the client. Any number that the peer writes there may be wrong.

use super::error::MemifError;
use crate::sys::mapping::MemoryMapping;
use crate::sys::memfd;
use std::os::fd::OwnedFd;

/// The most octets that a client may make us map; rings and buffers take megabytes.
pub(super) const MOST_MAPPED: u64 = 1 << 30;

/// The regions of one link, mapped for one half of a port: each half has mappings of its own, so that no two threads copy by the same.
pub(super) struct SharedMemory {
    regions: Vec<MemoryMapping>,
}

impl SharedMemory {
    /// Makes the only region of a client, for both halves, and returns its descriptor for the server.
    pub(super) fn new(octets: usize) -> Result<([Self; 2], OwnedFd), MemifError> {
        let fd = memfd::create(c"sixbench-memif", octets).map_err(MemifError::system(
            "make the memory that is shared with the peer",
        ))?;
        let half = || {
            MemoryMapping::shared(&fd, octets, 0).map(|mapping| Self {
                regions: vec![mapping],
            })
        };
        let both = half().and_then(|one| Ok([one, half()?]));
        Ok((
            both.map_err(MemifError::system(
                "map the memory that is shared with the peer",
            ))?,
            fd,
        ))
    }

    /// Maps the regions of a client for both halves, each with the size that it said.
    ///
    /// # Errors
    /// One cannot be touched safely, or is not as large as the client said. A file that may shrink is refused, as memory behind its end kills
    /// the process that touches it. What remains: a client may punch holes into its file. These fill with zeroes, unless the machine has no memory
    /// left.
    pub(super) fn of_client(claimed: &[(u64, OwnedFd)]) -> Result<[Self; 2], MemifError> {
        let total = claimed
            .iter()
            .try_fold(0u64, |total, (size, _)| total.checked_add(*size));
        if total.is_none_or(|total| total > MOST_MAPPED) {
            let what = format!("its regions have more than {} MiB", MOST_MAPPED >> 20);
            return Err(MemifError::UnusableMemory(what));
        }
        let half = || {
            let regions = claimed
                .iter()
                .map(|(size, fd)| map_checked(*size, fd))
                .collect::<Result<_, _>>()?;
            Ok(Self { regions })
        };
        Ok([half()?, half()?])
    }

    /// Returns a region that is known to exist.
    #[inline]
    pub(super) fn region(&self, index: u16) -> &MemoryMapping {
        &self.regions[usize::from(index)]
    }

    /// Returns the region that, according to the peer, has `octets` at `offset`.
    ///
    /// # Errors
    /// It does not.
    #[inline]
    pub(super) fn find(
        &self,
        index: u16,
        offset: u32,
        octets: usize,
    ) -> Result<&MemoryMapping, MemifError> {
        let region = self
            .regions
            .get(usize::from(index))
            .ok_or_else(|| no_region(index))?;
        match (offset as usize).checked_add(octets) {
            Some(end) if end <= region.length() => Ok(region),
            _ => Err(outside(index, offset, octets, region.length())),
        }
    }
}

#[cold]
fn no_region(index: u16) -> MemifError {
    MemifError::broken(format!("it names the region {index}, which there is not"))
}

#[cold]
fn outside(index: u16, offset: u32, octets: usize, length: usize) -> MemifError {
    MemifError::broken(format!(
        "it names {octets} octets at {offset} of region {index}, which has {length}"
    ))
}

fn map_checked(size: u64, fd: &OwnedFd) -> Result<MemoryMapping, MemifError> {
    // The order matters: once a file cannot shrink, its length is the least that it will ever have.
    if !memfd::cannot_shrink(fd) {
        return Err(MemifError::UnusableMemory(
            "it is not sealed against shrinking (F_SEAL_SHRINK)".to_owned(),
        ));
    }
    let length = memfd::length(fd).map_err(MemifError::system("measure the memory of the peer"))?;
    if size == 0 || size > length {
        return Err(MemifError::broken(format!(
            "it announces a region of {size} octets, and its file has {length}"
        )));
    }
    MemoryMapping::shared(fd, size as usize, 0)
        .map_err(MemifError::system("map the memory of the peer"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn refused(claimed: Vec<(u64, OwnedFd)>) -> String {
        SharedMemory::of_client(&claimed)
            .err()
            .expect("refused")
            .to_string()
    }

    fn sealed() -> OwnedFd {
        memfd::create(c"test", 8192).expect("memory")
    }

    #[test]
    fn a_region_is_no_larger_than_its_file() {
        SharedMemory::of_client(&[(8192, sealed()), (4096, sealed())]).expect("as large as said");
        assert!(
            refused(vec![(8193, sealed())])
                .contains("a region of 8193 octets, and its file has 8192")
        );
        assert!(refused(vec![(0, sealed())]).contains("a region of 0 octets"));
    }

    #[test]
    fn both_halves_see_the_same_memory() {
        let ([one, other], _) = SharedMemory::new(8192).expect("memory");
        one.region(0).copy_from(4095, b"seen");
        let mut octets = [0; 4];
        other.region(0).copy_to(4095, &mut octets);
        assert_eq!(&octets, b"seen");
    }

    #[test]
    fn a_file_that_may_shrink_is_not_mapped() {
        let file = File::open("/proc/self/exe").expect("a file on a disk");
        assert!(refused(vec![(4096, file.into())]).contains("not sealed against shrinking"));
    }

    #[test]
    fn a_client_does_not_make_us_map_whatever_it_likes() {
        assert!(
            refused(vec![(MOST_MAPPED, sealed()), (1, sealed())]).contains("more than 1024 MiB")
        );
        assert!(
            refused(vec![(u64::MAX, sealed()), (u64::MAX, sealed())])
                .contains("more than 1024 MiB")
        );
    }

    #[test]
    fn octets_outside_of_the_regions_are_not_found() {
        let ([memory, _], _) = SharedMemory::new(8192).expect("memory");
        assert!(memory.find(0, 8191, 1).is_ok() && memory.find(0, 0, 8192).is_ok());
        let error = |index, offset, octets| {
            memory
                .find(index, offset, octets)
                .err()
                .expect("outside")
                .to_string()
        };
        assert!(error(0, 8191, 2).contains("2 octets at 8191 of region 0, which has 8192"));
        assert!(error(0, u32::MAX, usize::MAX).contains("of region 0, which has 8192"));
        assert!(error(1, 0, 1).contains("the region 1, which there is not"));
    }
}
