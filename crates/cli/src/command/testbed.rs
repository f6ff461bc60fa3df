//! `sixbench testbed`.

use super::{Consent, Permission, PlanFile, isolation, locked, read_plan};
use crate::args::{TestbedCommand, TestbedUp};
use crate::exit::{Exit, Failed};
use crate::hints;
use crate::output;
use sixbench_runner::{code, held, held::HeldTestbed, held::Released};
use std::path::Path;

/// Sets up a testbed, runs a command in it, or takes it down.
pub(crate) fn testbed(what: TestbedCommand) -> Result<Exit, Failed> {
    match what {
        TestbedCommand::Up(arguments) => up(&arguments)?,
        TestbedCommand::Exec {
            plan,
            device,
            command,
        } => return Err(held::exec(&plan, device.as_deref(), &command).into()),
        TestbedCommand::Down { plan } => down(&plan)?,
    }
    Ok(Exit::Done)
}

fn up(arguments: &TestbedUp) -> Result<(), Failed> {
    let TestbedUp {
        plan,
        test,
        background,
        agreed,
        waiting,
        further,
        force,
    } = arguments;
    let PlanFile {
        mut loaded,
        library,
        ..
    } = read_plan(plan, &further.named.recipes)?;
    held::check_not_up(plan)?;
    held::choose(&mut loaded, test.as_deref())?;
    let trusted = if let Some(digests) = agreed {
        code::agreed_before(&loaded, &library, digests)?
    } else {
        let consent = Consent {
            force: *force,
            trust_recipes: further.trust_recipes,
        };
        Permission::granted(consent, &loaded, &library)?.trusted
    };
    let locks = locked(
        &loaded.links,
        &format!("testbed up {}", loaded.plan.name),
        None,
        waiting,
    )?;
    sixbench_runner::check(&loaded, &library, isolation(*force))?;
    let told = |held: &HeldTestbed| output::print(advised(held, *background));
    match background {
        true => {
            // The background process takes the locks itself.
            drop(locks);
            told(&held::hold_in_background("--agreed", &trusted)?)?;
        }
        false => held::hold(
            &loaded,
            &library,
            plan,
            isolation(*force),
            waiting.wait,
            &trusted,
            told,
        )?,
    }
    Ok(())
}

fn down(plan: &Path) -> Result<(), Failed> {
    match held::release(plan)? {
        Released::Undone(held) => Ok(output::line(format_args!(
            "test {} of {} is down",
            held.test, held.plan
        ))?),
        Released::Swept {
            held:
                HeldTestbed {
                    plan,
                    test,
                    process,
                    ..
                },
            removed,
        } => {
            output::line(format_args!(
                "test {test} of {plan} is down: process {process}, which held it, was killed"
            ))?;
            Ok(removed
                .iter()
                .try_for_each(|name| output::line(format_args!("removed {name}")))?)
        }
    }
}

/// Returns a description of a testbed, with the commands to inspect it and to take it down.
fn advised(held: &HeldTestbed, is_in_background: bool) -> String {
    let (plan, words) = (Path::new(&held.plan), held.describe());
    let device = held.parts.last().map(|part| part.name.as_str());
    let (exec, exec_there) = (
        hints::testbed_exec(plan, None, "ip address"),
        hints::testbed_exec(plan, device, "ip route"),
    );
    let down = hints::testbed_down(plan);
    let end = if is_in_background { "" } else { "Ctrl-C, or " };
    format!("{words}look into it: {exec}\n              {exec_there}\nend it:       {end}{down}\n")
}
