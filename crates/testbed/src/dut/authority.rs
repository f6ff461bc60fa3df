//! An authoritative DNS server at the tester's right end, brought up by a recipe. A DNS64 server under test queries it instead of the tester's
//! built-in authority. It is part of the tester and runs on the tester's cores.
//!
//! # Where DNS servers run
//!
//! To `testbed` a DNS server is a recipe with `[dns]`, and `testbed` knows no DNS message. How a recipe is run (`dut::running`: files, process, ready,
//! version) is separate from where: `Dut` puts it in the middle, `RealAuthority` puts an authoritative server at the tester's right end
//! (`Hosts`), on the tester's cores. `Hosts::loop_back` joins both ends past the device, for the self-test of RFC 8219 section 9.2.1.
//! `RemoteAuthority` puts the tester's own authority on a third machine: this program is copied there and runs as `sixbench authority`. The
//! tester's right end is then the client's end of a cable to that machine, only for the self-test. It is set up before the device, whose right link has
//! no carrier without it. Only the first lines of a zone file are part of the facts and the transcript: it may have many megabytes.
//!
//! A DNS64 server of ours is restarted before a trial that would ask for names again, and after a trial that it failed: once its authority has seemed dead,
//! Knot Resolver continues to fail (`DnsTester::wants_new_server`). A server that someone else set up is not restarted.

use crate::dut::running::{Directory, ExecContext, RunningRecipe, check_programs};
use crate::dut::template_vars::{ServerVars, TemplateVars, Zone};
use crate::exec::{ServerError, TestbedError};
use crate::net::Hosts;
use crate::recipe::{Recipe, Technology};
use sixbench_method::record::DutFacts;
use std::net::SocketAddr;

/// A running authority. Drop it before the hosts: dropping them deletes their namespaces with everything in them.
#[derive(Debug)]
pub struct RealAuthority {
    running: RunningRecipe,
}

impl RealAuthority {
    /// Brings the server up in the right end's namespace, listening at `at`, an address of that end, and returns once it answers.
    ///
    /// # Errors
    /// The recipe is not an authority's, a program is not installed, or the server does not come up.
    pub fn bring_up(
        recipe: &Recipe,
        hosts: &Hosts,
        at: SocketAddr,
        zone: &Zone,
    ) -> Result<Self, TestbedError> {
        if recipe.technology != Technology::DnsAuthority {
            return Err(ServerError::OtherTechnology {
                recipe: recipe.name.clone(),
                technology: recipe.technology.title(),
            }
            .into());
        }
        let (shell, name) = hosts.far();
        let context = ExecContext {
            shell,
            name: name.to_owned(),
            cores: hosts.cores().to_vec(),
            undo: None,
        };
        check_programs(recipe, &context.shell)?;
        context
            .shell
            .transcript()
            .comment(&format!("the authority: {}", recipe.title));
        let server = ServerVars::for_recipe(recipe, zone).map(|server| ServerVars {
            listen: at,
            ..server
        });
        let vars = TemplateVars {
            server,
            ..context.vars()
        };
        let directory = Directory::make(&context)?;
        Ok(Self {
            running: RunningRecipe::bring_up(recipe, context, directory, vars, zone)?,
        })
    }

    /// Returns the facts that the report states about the server: title, version and configuration files, but not the zone.
    pub fn facts(&self) -> &DutFacts {
        self.running.facts()
    }

    /// Returns an error if the authority's process has ended, with the last lines it wrote.
    ///
    /// # Errors
    /// If it has ended.
    pub fn check_alive(&mut self) -> Result<(), TestbedError> {
        self.running.check_alive()
    }
}
