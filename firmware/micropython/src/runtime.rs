//! MicroPython's functions and objects, by version 6.3 of its native interface: what releases from 1.23 on hand to a module.

use core::ffi::{CStr, c_void};
use core::marker::PhantomData;

/// Names that a module looks up or stores, in the order of its `.names`: the .mpy file has them as its table of names, after
/// the name of the file.
macro_rules! names {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// Places of names in the module's table.
        #[allow(dead_code, reason = "methods are stored by their texts, which the table interns")]
        pub(crate) mod name {
            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            #[repr(usize)]
            enum Place { File, $($name),* }
            $(pub(crate) const $name: usize = Place::$name as usize;)*
        }

        const TEXT: &str = concat!($($text, "\0"),*);

        #[used]
        #[unsafe(link_section = ".names")]
        static NAMES: [u8; TEXT.len()] = {
            let (mut bytes, mut n) = ([0; TEXT.len()], 0);
            while n < bytes.len() {
                bytes[n] = TEXT.as_bytes()[n];
                n += 1;
            }
            bytes
        };
    };
}

names! {
    STREAM = "Stream",
    PUSH = "push",
    READ = "read",
    RESET = "reset",
    SO_FAR = "so_far",
    LOG_LIKELIHOODS = "log_likelihoods",
    STATISTICS = "statistics",
    FINISH = "finish",
    CLASSES = "CLASSES",
    CHANNELS = "CHANNELS",
    SYMBOLS = "SYMBOLS",
    PLACES = "PLACES",
    WINDOW = "WINDOW",
    HOP = "HOP",
    PERIOD = "PERIOD",
    LEN = "len",
    ISINSTANCE = "isinstance",
    VALUE_ERROR = "ValueError",
    MEMORY_ERROR = "MemoryError",
    IMPORT_ERROR = "ImportError",
}

/// An object of MicroPython.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Object(*const c_void);

impl Object {
    /// No object yet: room for one.
    pub(crate) const NULL: Self = Self(core::ptr::null());
}

/// What MicroPython hands over: the fields that are unused are room. What stands behind these differs between releases, and
/// the types that are there are had from objects.
#[repr(C)]
struct Table {
    none: Object,
    constants: [usize; 2],
    from_object: extern "C" fn(Object, usize) -> usize,
    to_object: extern "C" fn(usize, usize) -> Object,
    swap_globals: extern "C" fn(*const c_void) -> *const c_void,
    load_name: usize,
    load_global: extern "C" fn(usize) -> Object,
    from_8: [usize; 5],
    store_global: extern "C" fn(usize, Object),
    from_14: [usize; 5],
    new_tuple: extern "C" fn(usize, *const Object) -> Object,
    new_list: usize,
    new_dict: extern "C" fn(usize) -> Object,
    from_22: [usize; 3],
    dict_store: extern "C" fn(Object, Object, Object) -> Object,
    from_26: [usize; 13],
    unpack_sequence: extern "C" fn(Object, usize, *mut Object),
    from_40: [usize; 4],
    check_arguments: extern "C" fn(usize, usize, u32),
    from_45: [usize; 7],
    reallocate: extern "C" fn(*mut c_void, usize, bool) -> *mut c_void,
    from_53: [usize; 2],
    raise: extern "C" fn(Object, *const core::ffi::c_char) -> !,
    type_of: extern "C" fn(Object) -> *const c_void,
    new_text: extern "C" fn(*const u8, usize) -> Object,
    from_58: [usize; 2],
    new_float: extern "C" fn(f32) -> Object,
    from_61: usize,
    to_float: extern "C" fn(Object) -> f32,
}

const _: () = {
    let word = size_of::<usize>();
    assert!(core::mem::offset_of!(Table, check_arguments) == 44 * word);
    assert!(core::mem::offset_of!(Table, reallocate) == 52 * word);
    assert!(core::mem::offset_of!(Table, to_float) == 62 * word);
};

/// Kinds of numbers in conversions.
const SIGNED: usize = 2;
const UNSIGNED: usize = 3;
const POINTER: usize = 4;

/// The function that a module's code is.
#[repr(C)]
pub(crate) struct Function {
    base: *const c_void,
    context: *const Inner,
}

/// A module: its globals, and the tables of its file.
#[repr(C)]
struct Inner {
    base: *const c_void,
    globals: *const c_void,
    names: *const u16,
    objects: *const *const Table,
}

/// The module that is being imported.
#[derive(Clone, Copy)]
pub(crate) struct Context(*const Inner);

impl Context {
    /// Does some work with the module's globals as those that names are looked up and stored in.
    pub(crate) fn within(self, runtime: Runtime, work: impl FnOnce()) {
        // SAFETY: a module's context lives as long as the import.
        let before = (runtime.table().swap_globals)(unsafe { (*self.0).globals });
        work();
        (runtime.table().swap_globals)(before);
    }

    fn name(self, place: usize) -> usize {
        // SAFETY: the file has a name per place.
        usize::from(unsafe { *(*self.0).names.add(place) })
    }
}

/// A type of MicroPython's own and what this module keeps behind it.
#[repr(C)]
pub(crate) struct Type {
    base: *const c_void,
    flags: u16,
    name: u16,
    /// Places in the slots, from 1, of: construction, print, call, unary and binary operations, attributes, items, iteration,
    /// buffer, protocol, parent, methods.
    slots: [u8; 12],
    new: extern "C" fn(*const Type, usize, usize, *const Object) -> Object,
    methods: Object,
    table: *const Table,
    value_error: Object,
    memory_error: Object,
}

/// A function of one argument or two, as MicroPython has them.
#[repr(C)]
struct Method<F> {
    base: *const c_void,
    function: F,
}

/// What a method does, by its number of arguments.
pub(crate) enum Code {
    /// The instance alone.
    Own(extern "C" fn(Object) -> Object),
    /// The instance and an argument.
    With(extern "C" fn(Object, Object) -> Object),
}

/// An instance: its type, and the content.
#[repr(C)]
struct Instance<T> {
    base: *const Type,
    content: T,
}

/// MicroPython, to make and read objects by.
#[derive(Clone, Copy)]
pub(crate) struct Runtime(*const Table);

impl Runtime {
    /// Returns MicroPython and the module, of the function that is called at the import.
    ///
    /// # Safety
    /// `function` is what MicroPython calls the module by.
    pub(crate) unsafe fn of(function: *const Function) -> (Self, Context) {
        // SAFETY: the caller's promise; the file's first object is the table.
        let (context, table) = unsafe {
            let context = (*function).context;
            (context, *(*context).objects)
        };
        (Self(table), Context(context))
    }

    const fn table(self) -> &'static Table {
        // SAFETY: the table is a constant of MicroPython's.
        unsafe { &*self.0 }
    }

    /// Raises an error unless floats pass between MicroPython and this module: a firmware with hardware floats loads modules
    /// without them.
    pub(crate) fn check_floats(self, context: Context) {
        for number in [2, 3] {
            if (self.table().to_float)(self.integer(number)) != number as f32 {
                (self.table().raise)(
                    self.load(context, name::IMPORT_ERROR),
                    c"the module is for another architecture: this one has hardware floats"
                        .as_ptr(),
                )
            }
        }
    }

    fn load(self, context: Context, place: usize) -> Object {
        (self.table().load_global)(context.name(place))
    }

    /// Stores an object under a name of the module's globals.
    pub(crate) fn store(self, context: Context, place: usize, object: Object) {
        (self.table().store_global)(context.name(place), object);
    }

    pub(crate) fn none(self) -> Object {
        self.table().none
    }

    /// A signed integer.
    pub(crate) fn integer(self, number: isize) -> Object {
        (self.table().to_object)(number.cast_unsigned(), SIGNED)
    }

    /// An unsigned integer.
    pub(crate) fn count(self, number: usize) -> Object {
        (self.table().to_object)(number, UNSIGNED)
    }

    pub(crate) fn float(self, number: f32) -> Object {
        (self.table().new_float)(number)
    }

    pub(crate) fn text(self, text: &str) -> Object {
        (self.table().new_text)(text.as_ptr(), text.len())
    }

    pub(crate) fn tuple(self, items: &[Object]) -> Object {
        (self.table().new_tuple)(items.len(), items.as_ptr())
    }

    /// A tuple of texts.
    pub(crate) fn texts<'t>(
        self,
        context: Context,
        count: usize,
        mut texts: impl Iterator<Item = &'t str>,
    ) -> Object {
        let none = self.none();
        let memory = self.load(context, name::MEMORY_ERROR);
        let next = |_: usize| texts.next().map_or(none, |text| self.text(text));
        self.tuple_of(memory, count, next)
    }

    /// A tuple of as many items as there are, however many.
    fn tuple_of(
        self,
        memory_error: Object,
        count: usize,
        mut item: impl FnMut(usize) -> Object,
    ) -> Object {
        let room: *mut Object = self.room(memory_error, count * size_of::<Object>()).cast();
        for n in 0..count {
            // An object in a buffer that is not filled is found all the same: the heap is searched word by word.
            // SAFETY: room for `count` objects.
            unsafe { room.add(n).write(item(n)) };
        }
        let tuple = (self.table().new_tuple)(count, room);
        (self.table().reallocate)(room.cast(), 0, false);
        tuple
    }

    /// Room in the heap, aligned as any number of the module.
    fn room(self, memory_error: Object, bytes: usize) -> *mut c_void {
        let room = (self.table().reallocate)(core::ptr::null_mut(), bytes.max(1), false);
        if room.is_null() {
            (self.table().raise)(memory_error, c"no room in the heap".as_ptr())
        }
        // What was there before may look like pointers.
        // SAFETY: room for as many bytes.
        unsafe { room.write_bytes(0, bytes) };
        room
    }

    /// The float of an object; a type error is raised where it has none.
    pub(crate) fn to_float(self, object: Object) -> f32 {
        (self.table().to_float)(object)
    }

    fn type_of(self, object: Object) -> *const c_void {
        (self.table().type_of)(object)
    }

    /// The bytes of a text up to a zero; nothing of another object.
    pub(crate) fn bytes_of(self, object: &Object) -> Option<&[u8]> {
        if self.type_of(*object) != self.type_of(self.text("")) {
            return None;
        }
        let text = (self.table().from_object)(*object, POINTER) as *const core::ffi::c_char;
        // SAFETY: a text ends with a zero, and stays as long as the object.
        Some(unsafe { CStr::from_ptr(text) }.to_bytes())
    }

    /// The items of a sequence, the last first; a value error is raised where there are more or fewer.
    pub(crate) fn items<const N: usize>(self, sequence: Object) -> [Object; N] {
        let mut items = [Object::NULL; N];
        (self.table().unpack_sequence)(sequence, N, items.as_mut_ptr());
        items
    }

    /// Makes a type with these methods.
    pub(crate) fn new_type(
        self,
        context: Context,
        new: extern "C" fn(*const Type, usize, usize, *const Object) -> Object,
        methods: &[(bool, &str, Code)],
    ) -> Object {
        let memory_error = self.load(context, name::MEMORY_ERROR);
        let there = (self.table().new_dict)(methods.len());
        // Functions of one argument, and of two.
        let like = |place| self.type_of(self.load(context, place));
        let (one, two) = (like(name::LEN), like(name::ISINSTANCE));
        for (_, name, code) in methods.iter().filter(|method| method.0) {
            let method = match *code {
                Code::Own(function) => self.method(memory_error, one, function),
                Code::With(function) => self.method(memory_error, two, function),
            };
            (self.table().dict_store)(there, self.text(name), method);
        }
        let room: *mut Type = self.room(memory_error, size_of::<Type>()).cast();
        // SAFETY: room for a type.
        unsafe {
            room.write(Type {
                base: self.type_of(Object(self.type_of(self.none()))),
                flags: 0,
                name: context.name(name::STREAM) as u16,
                slots: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
                new,
                methods: there,
                table: self.0,
                value_error: self.load(context, name::VALUE_ERROR),
                memory_error,
            });
        }
        Object(room.cast())
    }

    fn method<F>(self, memory_error: Object, base: *const c_void, function: F) -> Object {
        let room: *mut Method<F> = self.room(memory_error, size_of::<Method<F>>()).cast();
        // SAFETY: room for a method.
        unsafe { room.write(Method { base, function }) };
        Object(room.cast())
    }
}

/// An instance whose content is a `T`, in a method.
pub(crate) struct This<'a, T> {
    instance: *mut Instance<T>,
    own: PhantomData<&'a mut T>,
}

impl<T> This<'_, T> {
    /// Makes an instance of a type that was called with arguments: it takes none.
    ///
    /// # Safety
    /// `kind` is a type of `new_type`.
    pub(crate) unsafe fn make(
        kind: *const Type,
        arguments: usize,
        named: usize,
        content: impl FnOnce() -> T,
    ) -> Object {
        const { assert!(align_of::<T>() <= 16, "the heap's blocks are aligned so") };
        // SAFETY: the caller's promise.
        let (runtime, memory_error) = unsafe { (Runtime((*kind).table), (*kind).memory_error) };
        (runtime.table().check_arguments)(arguments, named, 0);
        let room: *mut Instance<T> = runtime.room(memory_error, size_of::<Instance<T>>()).cast();
        // SAFETY: room for an instance; its content is written in place.
        unsafe {
            (&raw mut (*room).base).write(kind);
            (&raw mut (*room).content).write(content());
        }
        Object(room.cast())
    }

    /// Returns the instance of a method.
    ///
    /// # Safety
    /// `object` is an instance that `make` has made of a `T`, and nothing else uses it during `'a`.
    pub(crate) const unsafe fn of(object: Object) -> Self {
        Self { instance: object.0.cast_mut().cast(), own: PhantomData }
    }

    fn kind(&self) -> &Type {
        // SAFETY: an instance, by the promise of `of`.
        unsafe { &*(*self.instance).base }
    }

    pub(crate) fn runtime(&self) -> Runtime {
        Runtime(self.kind().table)
    }

    pub(crate) fn content(&self) -> &T {
        // SAFETY: an instance that nothing else uses, by the promise of `of`.
        unsafe { &(*self.instance).content }
    }

    pub(crate) fn content_mut(&mut self) -> &mut T {
        // SAFETY: an instance that nothing else uses, by the promise of `of`.
        unsafe { &mut (*self.instance).content }
    }

    /// Raises a value error.
    pub(crate) fn refuse(&self, message: &'static CStr) -> ! {
        (self.runtime().table().raise)(self.kind().value_error, message.as_ptr())
    }

    /// A tuple of as many items as there are.
    pub(crate) fn tuple_of(&self, count: usize, item: impl FnMut(usize) -> Object) -> Object {
        self.runtime().tuple_of(self.kind().memory_error, count, item)
    }

    /// Lends room for `count` values to some work.
    pub(crate) fn with_room<V: Copy + Default, R>(
        &self,
        count: usize,
        work: impl FnOnce(&mut [V]) -> R,
    ) -> R {
        let runtime = self.runtime();
        let room = runtime.room(self.kind().memory_error, count * size_of::<V>());
        let values: *mut V = room.cast();
        for n in 0..count {
            // SAFETY: room for `count` values.
            unsafe { values.add(n).write(V::default()) };
        }
        // SAFETY: as above, and written.
        let done = work(unsafe { core::slice::from_raw_parts_mut(values, count) });
        (runtime.table().reallocate)(room, 0, false);
        done
    }
}
