//! Expands lines of a configuration file that are repeated for each subscriber, address or route.

use crate::net::topology::LINKS;
use crate::recipe::RecipeLink;

/// Returns `text` with each line that contains `mark` repeated for each of `items`, as `fill` writes it.
pub(super) fn repeated<T>(
    text: &str,
    mark: &str,
    items: &[T],
    fill: impl Fn(&T, &str) -> String,
) -> String {
    if !text.contains(mark) {
        return text.to_owned();
    }
    let mut filled = String::with_capacity(text.len() * (items.len() + 1));
    for line in text.split_inclusive('\n') {
        if line.contains(mark) {
            for item in items {
                filled.push_str(&fill(item, line));
            }
        } else {
            filled.push_str(line);
        }
    }
    filled
}

/// Fills in the addresses and routes of the links, left and right, for a device that gets them from its own configuration file.
pub(super) fn of_links(text: &str, links: &[RecipeLink; 2]) -> String {
    LINKS
        .iter()
        .zip(links)
        .fold(text.to_owned(), |text, (name, link)| {
            let [address, route, gateway] =
                ["address", "route", "gateway"].map(|word| format!("{{{name}-{word}}}"));
            let text = repeated(&text, &address, &link.dut, |own, line| {
                line.replace(&address, &own.to_string())
            });
            repeated(&text, &route, &link.routes, |to, line| {
                let by = link
                    .gateway_to(to)
                    .map(|by| by.to_string())
                    .unwrap_or_default();
                line.replace(&route, &to.to_string()).replace(&gateway, &by)
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_about_an_address_or_a_route_stands_once_for_each() {
        let link = |text: &str| toml::from_str::<RecipeLink>(text).expect("a link");
        let left = "dut = ['198.18.0.1/30', '2001:2::1/64']\ntester = ['198.18.0.2', '2001:2::2']\nroutes = ['2001:2:1::/48']";
        let links = [
            link(left),
            link("dut = ['198.19.0.1/30']\ntester = ['198.19.0.2']"),
        ];
        let text = "a\naddress {left-address}\nroute {left-route} via {left-gateway}\naddress {right-address}\nroute {right-route}\nb";
        let filled = "a\naddress 198.18.0.1/30\naddress 2001:2::1/64\nroute 2001:2:1::/48 via 2001:2::2\naddress 198.19.0.1/30\nb";
        assert_eq!(of_links(text, &links), filled);
    }
}
