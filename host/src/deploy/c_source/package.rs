//! A C source as a library of CMake, Arduino, PlatformIO, ESP-IDF and Zephyr: a folder of it.

use super::CSource;

/// The calls of a program, without that which pushes a sample.
const CALLS: &str = "\
```c
static {{prefix}}_stream stream;

{{prefix}}_init(&stream, sizeof stream);    /* once */
{{push}}
{{answer}}
```
";

/// What pushes a sample, by the function of the header that does.
const PUSHES: [(&str, &str); 3] = [
    (
        "_push_symbol(",
        "{{prefix}}_push_symbol(&stream, symbol);    /* each event, 0 to {{PREFIX}}_SYMBOLS - 1 */",
    ),
    (
        "_push_integers(",
        "{{prefix}}_push_integers(&stream, integers, {{PREFIX}}_CHANNELS);    /* each sample, times 2^{{PREFIX}}_CHANNEL_PLACES; NULL: missing */",
    ),
    (
        "_push(",
        "{{prefix}}_push(&stream, channels, {{PREFIX}}_CHANNELS);    /* each sample; NULL: a missing one */",
    ),
];

/// What a classifier is asked.
const DECISION: &str = "\
{{prefix}}_decision decision;
if ({{prefix}}_decide(&stream, &decision) == {{PREFIX}}_STATUS_OK) {
    /* The sample has filled a window: decision.class_index, decision.margin. */
}";

/// What a detector is asked.
const ALARM: &str = "\
{{prefix}}_alarm alarm;
if ({{prefix}}_detect(&stream, &alarm) == {{PREFIX}}_STATUS_OK && alarm.statistic != {{PREFIX}}_NO_ALARM) {
    {{prefix}}_reset(&stream);    /* the stream has changed: begin again */
}";

/// What a spotter is asked.
const EVENTS: &str = "\
{{prefix}}_event events[{{PREFIX}}_EVENTS];
size_t count;
if ({{prefix}}_events(&stream, events, {{PREFIX}}_EVENTS, &count) == {{PREFIX}}_STATUS_OK) {
    /* The sample has decided `count` events: class_index, start, end and log_odds of each. */
}";

impl CSource {
    /// The files of a library around the source, by their paths in its folder: the source under its prefix, what CMake,
    /// Arduino, PlatformIO, ESP-IDF and Zephyr ask for, a sketch and a page.
    ///
    /// The header that the source includes must be `PREFIX.h`.
    #[must_use]
    pub fn package(&self, prefix: &str) -> Vec<(String, String)> {
        let declares = |name: &str| self.header.contains(&format!(" {prefix}{name}"));
        let push = PUSHES.iter().find(|(name, _)| declares(name)).map_or("", |(_, call)| call);
        let (what, answer) = if declares("_detect(") {
            ("Detects when a stream of samples has changed", ALARM)
        } else if declares("_finish(") {
            ("Spots events in a stream of samples", EVENTS)
        } else {
            ("Classifies a stream of samples", DECISION)
        };
        let sentence = format!("{what}, by a model that is compiled in.");
        // A symbol of Zephyr, or of another module, may be called as a prefix is.
        let module =
            if prefix == "fishweir" { prefix.to_owned() } else { format!("fishweir_{prefix}") };
        let filled = |text: &str| {
            text.replace("{{calls}}", CALLS)
                .replace("{{push}}", push)
                .replace("{{answer}}", answer)
                .replace("{{sentence}}", &sentence)
                .replace("{{version}}", env!("CARGO_PKG_VERSION"))
                .replace("{{url}}", env!("CARGO_PKG_REPOSITORY"))
                .replace("{{prefix}}", prefix)
                .replace("{{PREFIX}}", &prefix.to_ascii_uppercase())
                .replace("{{module}}", &module)
                .replace("{{MODULE}}", &module.to_ascii_uppercase())
        };
        let files = [
            ("README.md", include_str!("package/README.md")),
            ("CMakeLists.txt", include_str!("package/CMakeLists.txt")),
            ("library.properties", include_str!("package/library.properties")),
            ("library.json", include_str!("package/library.json")),
            ("idf_component.yml", include_str!("package/idf_component.yml")),
            ("zephyr/module.yml", include_str!("../../device/c_library/module.yml")),
            ("zephyr/CMakeLists.txt", include_str!("package/zephyr.txt")),
            ("zephyr/Kconfig", include_str!("package/Kconfig")),
            ("examples/Sensor/Sensor.ino", include_str!("../../device/c_library/Sensor.ino")),
        ];
        let mut made: Vec<(String, String)> =
            files.into_iter().map(|(path, text)| (path.to_owned(), filled(text))).collect();
        made.push((format!("src/{prefix}.c"), self.source.clone()));
        made.push((format!("src/{prefix}.h"), self.header.clone()));
        made
    }
}
