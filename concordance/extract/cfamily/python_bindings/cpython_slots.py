"""The fields of CPython's tables, in their order, and the names under which Python knows the slots among them.

Nothing comes in; the tables go out. They are those of the C API's documentation; a slot without a name of its own in
Python (a destructor) is known by the field's.
"""

from __future__ import annotations

MODULE = ("m_base", "m_name", "m_doc", "m_size", "m_methods", "m_slots")
TYPE = (
    "ob_base", "tp_name", "tp_basicsize", "tp_itemsize", "tp_dealloc", "tp_print", "tp_getattr",
    "tp_setattr", "tp_as_async",
    "tp_repr", "tp_as_number", "tp_as_sequence", "tp_as_mapping", "tp_hash", "tp_call", "tp_str", "tp_getattro",
    "tp_setattro", "tp_as_buffer", "tp_flags", "tp_doc", "tp_traverse", "tp_clear", "tp_richcompare",
    "tp_weaklistoffset",
    "tp_iter", "tp_iternext", "tp_methods", "tp_members", "tp_getset", "tp_base", "tp_dict", "tp_descr_get",
    "tp_descr_set",
    "tp_dictoffset", "tp_init", "tp_alloc", "tp_new", "tp_free", "tp_is_gc",
)  # fmt: skip
SPEC = ("name", "basicsize", "itemsize", "flags", "slots")
SEQUENCE_DESC = ("name", "doc", "fields", "n_in_sequence")
NUMBER = (
    "nb_add", "nb_subtract", "nb_multiply", "nb_remainder", "nb_divmod", "nb_power", "nb_negative", "nb_positive",
    "nb_absolute", "nb_bool", "nb_invert", "nb_lshift", "nb_rshift", "nb_and", "nb_xor", "nb_or", "nb_int",
    "nb_reserved",
    "nb_float", "nb_inplace_add", "nb_inplace_subtract", "nb_inplace_multiply", "nb_inplace_remainder",
    "nb_inplace_power",
    "nb_inplace_lshift", "nb_inplace_rshift", "nb_inplace_and", "nb_inplace_xor", "nb_inplace_or", "nb_floor_divide",
    "nb_true_divide", "nb_inplace_floor_divide", "nb_inplace_true_divide", "nb_index", "nb_matrix_multiply",
    "nb_inplace_matrix_multiply",
)  # fmt: skip
SEQUENCE = (
    "sq_length", "sq_concat", "sq_repeat", "sq_item", "was_sq_slice", "sq_ass_item", "was_sq_ass_slice",
    "sq_contains",
    "sq_inplace_concat", "sq_inplace_repeat",
)  # fmt: skip
MAPPING = ("mp_length", "mp_subscript", "mp_ass_subscript")
ASYNC = ("am_await", "am_aiter", "am_anext", "am_send")
ROWS = {  # tables whose rows are bound one by one: the fields of a row
    "PyMethodDef": ("ml_name", "ml_meth", "ml_flags", "ml_doc"),
    "PyGetSetDef": ("name", "get", "set", "doc", "closure"),
    "PyMemberDef": ("name", "type", "offset", "flags", "doc"),
    "PyType_Slot": ("slot", "pfunc"),
    "PyModuleDef_Slot": ("slot", "value"),
}
SINGLE = {  # tables that are one row
    "PyModuleDef": MODULE, "PyTypeObject": TYPE, "PyType_Spec": SPEC, "PyStructSequence_Desc": SEQUENCE_DESC,
    "PyNumberMethods": NUMBER, "PySequenceMethods": SEQUENCE, "PyMappingMethods": MAPPING, "PyAsyncMethods": ASYNC,
}  # fmt: skip
TABLES = frozenset(("tp_methods", "tp_members", "tp_getset", "tp_as_number", "tp_as_sequence",
                    "tp_as_mapping", "tp_as_async",
                    "m_methods", "m_slots", "slots"))  # fmt: skip
NO_FUNCTIONS = frozenset(("ob_base", "tp_name", "tp_basicsize", "tp_itemsize", "tp_print", "tp_flags",
                          "tp_doc", "tp_base",
                          "tp_dict", "tp_weaklistoffset", "tp_dictoffset", "tp_as_buffer", "nb_reserved",
                          "was_sq_slice",
                          "was_sq_ass_slice", "m_base", "m_name", "m_doc", "m_size", "name", "doc",
                          "basicsize", "itemsize",
                          "flags", "fields", "n_in_sequence", "tp_alloc", "tp_free", "tp_bases"))  # fmt: skip
_SAME = ("call", "repr", "str", "hash", "iter", "init", "new")
DUNDERS = {
    **{f"tp_{name}": f"__{name}__" for name in _SAME},
    "tp_iternext": "__next__", "tp_getattro": "__getattribute__", "tp_getattr": "__getattribute__",
    "tp_setattro": "__setattr__", "tp_setattr": "__setattr__", "tp_descr_get": "__get__", "tp_descr_set": "__set__",
    "tp_finalize": "__del__",
    "nb_add": "__add__", "nb_subtract": "__sub__", "nb_multiply": "__mul__", "nb_remainder": "__mod__",
    "nb_divmod": "__divmod__", "nb_power": "__pow__", "nb_negative": "__neg__", "nb_positive": "__pos__",
    "nb_absolute": "__abs__", "nb_bool": "__bool__", "nb_invert": "__invert__", "nb_lshift": "__lshift__",
    "nb_rshift": "__rshift__", "nb_and": "__and__", "nb_xor": "__xor__", "nb_or": "__or__", "nb_int": "__int__",
    "nb_float": "__float__", "nb_inplace_add": "__iadd__", "nb_inplace_subtract": "__isub__",
    "nb_inplace_multiply": "__imul__", "nb_inplace_remainder": "__imod__", "nb_inplace_power": "__ipow__",
    "nb_inplace_lshift": "__ilshift__", "nb_inplace_rshift": "__irshift__", "nb_inplace_and": "__iand__",
    "nb_inplace_xor": "__ixor__", "nb_inplace_or": "__ior__", "nb_floor_divide": "__floordiv__",
    "nb_true_divide": "__truediv__", "nb_inplace_floor_divide": "__ifloordiv__",
    "nb_inplace_true_divide": "__itruediv__", "nb_index": "__index__", "nb_matrix_multiply": "__matmul__",
    "nb_inplace_matrix_multiply": "__imatmul__",
    "sq_length": "__len__", "sq_concat": "__add__", "sq_repeat": "__mul__", "sq_item": "__getitem__",
    "sq_ass_item": "__setitem__", "sq_contains": "__contains__", "sq_inplace_concat": "__iadd__",
    "sq_inplace_repeat": "__imul__", "mp_length": "__len__", "mp_subscript": "__getitem__",
    "mp_ass_subscript": "__setitem__", "am_await": "__await__", "am_aiter": "__aiter__", "am_anext": "__anext__",
}  # fmt: skip
