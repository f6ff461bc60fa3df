//! A browser for tests: headless Chromium, driven through its DevTools protocol. The tests of several crates include it as a module. Chromium and
//! axe-core must be installed (`scripts/install-dependencies tests`, `scripts/install-axe-core`); without them tests fail, they do not skip.

#![allow(dead_code, reason = "each test uses a part of it")]

use data_encoding::BASE64;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// axe-core, where `scripts/install-axe-core` puts it.
const AXE: &str = "/var/cache/sixbench/axe-core-4.14.1/axe.min.js";

/// The variable that names a directory for pictures of all pages in every look. No test looks at them.
const PICTURES: &str = "SIXBENCH_PICTURES";

/// What axe-core looks for, as it takes it in `axe.run`. Contrast takes most of its time.
#[derive(Clone, Copy)]
pub(crate) enum AxeRules {
    All,
    /// In dark colours all else is as in light ones.
    Contrast,
    /// On a narrow screen the colours are those of a wide one.
    AllButContrast,
}

impl AxeRules {
    fn options(self) -> &'static str {
        match self {
            Self::All => "{ resultTypes: ['violations'] }",
            Self::Contrast => "{ resultTypes: ['violations'], runOnly: ['color-contrast'] }",
            Self::AllButContrast => {
                "{ resultTypes: ['violations'], rules: { 'color-contrast': { enabled: false } } }"
            }
        }
    }
}

/// Lists axe-core's findings with these impacts, each with its rule, its explanation and the first elements.
const FINDINGS: &str = "axe.run(document, OPTIONS).then(found => found.violations
    .filter(rule => ['serious', 'critical'].includes(rule.impact))
    .map(rule => rule.impact + ' ' + rule.id + ': ' + rule.help + ', ' + rule.nodes.length + ' times: '
        + rule.nodes.slice(0, 3).map(node => node.html.slice(0, 200) + ' ' + (node.any[0] || node.all[0] || node.none[0] || {}).message).join(' | ')))";

/// Lists the innermost elements that extend beyond the page, if the page is wider than the screen. Elements that scroll within themselves do not count.
const TOO_WIDE: &str = "document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]
    .filter(e => { for (let outer = e.parentElement; outer; outer = outer.parentElement)
        if (outer !== document.body && getComputedStyle(outer).overflowX !== 'visible') return false; return true; })
    .filter(e => e.getBoundingClientRect().right > innerWidth + 0.5
        && ![...e.children].some(inner => inner.getBoundingClientRect().right > innerWidth + 0.5))
    .slice(0, 3).map(e => 'wider than the page: ' + e.outerHTML.slice(0, 120))";

/// Lists the beginnings of tables that are cut off on a wide screen.
const CUT: &str = "[...document.querySelectorAll('.scroll')].filter(table => table.scrollWidth > table.clientWidth)
    .map(table => 'cut: ' + table.ariaLabel + ' ' + table.scrollWidth + ' of ' + table.clientWidth)";

/// Lists the beginnings of folded elements that are not visible on paper, except in chapters, which paper shows as they are on the screen.
const HIDDEN: &str = "[...document.querySelectorAll('details > :not(summary)')]
    .filter(inside => !inside.closest('details.chapter:not([open])'))
    .filter(inside => inside.getClientRects().length === 0).map(inside => 'not on paper: ' + inside.outerHTML.slice(0, 80))";

/// The conditions under which a page is viewed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) name: &'static str,
    /// CSS pixels.
    pub(crate) width: u32,
    pub(crate) is_dark: bool,
    pub(crate) is_paper: bool,
    /// As seen by someone without colour vision, or as printed by a printer without colours.
    pub(crate) is_colourless: bool,
}

impl Look {
    const WIDE: Self = Self {
        name: "wide",
        width: 1280,
        is_dark: false,
        is_paper: false,
        is_colourless: false,
    };

    /// The looks in which every page is tested. Paper is A4 without its margins.
    pub(crate) const ALL: [Self; 5] = [
        Self::WIDE,
        Self {
            name: "phone",
            width: 390,
            ..Self::WIDE
        },
        Self {
            name: "dark",
            is_dark: true,
            ..Self::WIDE
        },
        Self {
            name: "paper",
            width: 688,
            is_paper: true,
            ..Self::WIDE
        },
        Self {
            name: "colourless",
            is_colourless: true,
            ..Self::WIDE
        },
    ];

    /// Returns what axe-core looks for in this look. It reads style sheets: the colourless look has the same ones as the wide page, and nothing on paper
    /// is interactive.
    fn axe_rules(self) -> Option<AxeRules> {
        if self.is_paper || self.is_colourless {
            None
        } else if self.is_dark {
            Some(AxeRules::Contrast)
        } else if self.width < Self::WIDE.width {
            Some(AxeRules::AllButContrast)
        } else {
            Some(AxeRules::All)
        }
    }
}

/// A browser with one page open.
pub(crate) struct Chromium {
    child: Child,
    profile: PathBuf,
    page: WebSocket<TcpStream>,
    /// The number of the last call.
    calls: u64,
}

impl Chromium {
    /// Opens a page. While the browser runs, it keeps its profile in a new directory at `profile`.
    pub(crate) fn open(profile: impl Into<PathBuf>, url: &str) -> Self {
        let profile = profile.into();
        // A profile left behind by an earlier browser would contain that browser's address.
        let _ = fs::remove_dir_all(&profile);
        // The browser ends with the test, even if the test is killed.
        let mut command = Command::new("setpriv");
        command.args([
            "--pdeathsig",
            "TERM",
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            // What only a person's browser needs would take most of the processor time.
            "--no-first-run",
            "--disable-extensions",
            "--disable-sync",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-features=Translate,MediaRouter,OptimizationHints",
            "--remote-debugging-port=0",
        ]);
        command
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(url);
        let child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromium");
        let address = devtools(&profile);
        let socket = page_socket(address);
        let stream = TcpStream::connect(address).expect("chromium");
        let page = tungstenite::client(&socket, stream).expect("a page").0;
        Self {
            child,
            profile,
            page,
            calls: 0,
        }
    }

    /// Opens another page instead of this one.
    pub(crate) fn go_to(&mut self, url: &str) {
        self.call("Page.navigate", json!({ "url": url }));
    }

    /// Calls a method of the protocol and returns its result.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let call = json!({ "id": self.calls, "method": method, "params": parameters });
        self.page
            .send(Message::text(call.to_string()))
            .expect("chromium");
        loop {
            let Message::Text(text) = self.page.read().expect("chromium") else {
                continue;
            };
            let mut answer: Value = serde_json::from_str(&text).expect("JSON");
            if answer["id"] == self.calls {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].take();
            }
        }
    }

    /// Returns the value of an expression in the page; for a promise, the value it resolves to.
    pub(crate) fn evaluate(&mut self, script: &str) -> Value {
        let parameters =
            json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", parameters);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{}: {}",
            script.get(..80).unwrap_or(script),
            answer["exceptionDetails"]
        );
        answer["result"]["value"].take()
    }

    pub(crate) fn wait_for_title(&mut self, start: &str) {
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            let title = self.evaluate("document.title");
            if title.as_str().is_some_and(|title| title.starts_with(start)) {
                return;
            }
            assert!(Instant::now() < end, "no {start}: {title}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Shows the page in this look.
    pub(crate) fn look(&mut self, look: Look) {
        let (media, scheme) = (
            if look.is_paper { "print" } else { "screen" },
            if look.is_dark { "dark" } else { "light" },
        );
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "media": media, "features": features }),
        );
        let deficiency = if look.is_colourless {
            "achromatopsia"
        } else {
            "none"
        };
        self.call(
            "Emulation.setEmulatedVisionDeficiency",
            json!({ "type": deficiency }),
        );
        let screen =
            json!({ "width": look.width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", screen);
    }

    /// Returns the findings that axe-core rates serious or critical, with all folded elements unfolded.
    pub(crate) fn serious_findings(&mut self, rules: AxeRules) -> Vec<String> {
        let axe = fs::read_to_string(AXE)
            .unwrap_or_else(|e| panic!("{AXE}: {e}; run scripts/install-axe-core"));
        if self.evaluate("typeof axe") == "undefined" {
            self.evaluate(&format!("{axe}; 0"));
        }
        self.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)");
        self.list(&FINDINGS.replace("OPTIONS", rules.options()))
    }

    /// Views the page in every look, and returns whatever keeps people from reading it: serious findings of axe-core, content that extends beyond the
    /// page or is cut off, and content hidden on paper. Saves a picture of each look where [`PICTURES`] says.
    pub(crate) fn barriers(&mut self, name: &str) -> Vec<String> {
        let pictures = std::env::var_os(PICTURES).map(PathBuf::from);
        let mut barriers = Vec::new();
        for look in Look::ALL {
            self.look(look);
            if let Some(pictures) = &pictures {
                fs::create_dir_all(pictures).expect("a directory");
                self.picture(&pictures.join(format!("{name}-{}.png", look.name)));
            }
            let told = |found: Vec<String>| {
                found
                    .into_iter()
                    .map(move |barrier| format!("{}: {barrier}", look.name))
            };
            barriers.extend(told(self.list(TOO_WIDE)));
            if look.is_paper {
                barriers.extend(told(self.list(HIDDEN)));
            }
        }
        // These come last, because they unfold everything.
        for look in Look::ALL {
            self.look(look);
            let told = |found: Vec<String>| {
                found
                    .into_iter()
                    .map(move |barrier| format!("{}, unfolded: {barrier}", look.name))
            };
            if let Some(rules) = look.axe_rules() {
                barriers.extend(told(self.serious_findings(rules)));
            }
            barriers.extend(told(self.list(TOO_WIDE)));
            if look.width > 1000 {
                barriers.extend(told(self.list(CUT)));
            }
        }
        barriers
    }

    /// Returns the list of texts that an expression in the page evaluates to.
    pub(crate) fn list(&mut self, script: &str) -> Vec<String> {
        serde_json::from_value(self.evaluate(script)).expect("a list of texts")
    }

    /// Saves a picture of the whole page, up to the greatest possible height.
    pub(crate) fn picture(&mut self, file: &Path) {
        const HIGHEST: f64 = 16_000.0;
        let size = self.call("Page.getLayoutMetrics", json!({}))["cssContentSize"].take();
        let height = size["height"].as_f64().expect("a height").min(HIGHEST);
        let clip = json!({ "x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1 });
        let parameters = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let picture = self.call("Page.captureScreenshot", parameters);
        let octets = BASE64
            .decode(picture["data"].as_str().expect("a picture").as_bytes())
            .expect("base64");
        fs::write(file, octets).expect("a file");
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Its other processes end with it.
        let _ = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

/// Waits for the browser and returns its address.
fn devtools(profile: &Path) -> SocketAddr {
    let file = profile.join("DevToolsActivePort");
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let port = fs::read_to_string(&file)
            .ok()
            .and_then(|text| text.lines().next()?.parse().ok());
        if let Some(port) = port {
            return SocketAddr::from(([127, 0, 0, 1], port));
        }
        assert!(Instant::now() < end, "chromium does not start");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits for the page and returns the address of its DevTools socket.
fn page_socket(address: SocketAddr) -> String {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let listed: Value = serde_json::from_str(&pages(address)).unwrap_or_default();
        let page = listed
            .as_array()
            .into_iter()
            .flatten()
            .find(|target| target["type"] == "page");
        if let Some(socket) = page.and_then(|page| page["webSocketDebuggerUrl"].as_str()) {
            return socket.to_owned();
        }
        assert!(Instant::now() < end, "chromium opens no page: {listed}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the browser's list of its pages.
fn pages(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).expect("chromium");
    stream
        .set_read_timeout(Some(Duration::from_secs(1)))
        .expect("a timeout");
    write!(
        stream,
        "GET /json/list HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .expect("asked");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer)
        .split_once("\r\n\r\n")
        .map_or(String::new(), |(_, body)| body.to_owned())
}
