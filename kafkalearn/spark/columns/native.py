"""Java's own functions as Spark expressions, compiled into the query.

Spark SQL can call a static Java method by name, ``java_method('java.util.Objects', 'hashCode', text)``, but by
reflection and through text: three to five times slower than the query it is part of. Inside, Spark has a better
expression, ``StaticInvoke``, which it uses for its own functions: the call stands in the generated code. It takes
bytes as they are, and a null argument makes the result null.

It is not part of Spark's public interface, so `static_call` answers None where it is not there (Spark Connect, a
Spark of another version), and the rules then take a slower way that is.
"""

from __future__ import annotations

from py4j.java_gateway import JVMView
from py4j.protocol import Py4JError
from pyspark.sql import Column, DataFrame

from kafkalearn.spark.session.gateway import is_connect

SQL = "org.apache.spark.sql"


def static_call(df: DataFrame, class_name: str, method: str, returns: str, *arguments: Column) -> Column | None:
    """The column of a static Java method's answers, or None where this Spark offers no such expression.

    Parameters
    ----------
    df : DataFrame
        The rows it is meant for; their session shows which Spark it is.
    class_name, method : str
        A public static method of a class in Spark's own jars, which every worker has.
    returns : str
        A Spark type such as ``"int"``, or the name of a Java class if the answer only goes into another call.
    *arguments : Column
        Strings arrive as Spark's UTF8String, binaries as ``byte[]``.
    """
    if is_connect(df.sparkSession):
        return None
    try:
        return Column(_static_invoke(df.sparkSession._jvm, class_name, method, returns, arguments))
    except (Py4JError, TypeError):  # TypeError: py4j takes a class that is not there for a package
        return None


def _static_invoke(jvm: JVMView, class_name: str, method: str, returns: str, arguments: tuple[Column, ...]):
    columns = getattr(jvm, f"{SQL}.classic.ExpressionUtils")
    sequence = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    expression = getattr(jvm, f"{SQL}.catalyst.expressions.objects.StaticInvoke")(
        _class(jvm, class_name),
        _type(jvm, returns),
        method,
        sequence([columns.expression(column._jc) for column in arguments]),
        sequence([]),  # no casts of the arguments
        True,  # null in, null out
        False,  # never null otherwise
        True,  # the same answer each time
        jvm.scala.Option.empty(),
    )
    return columns.column(expression)


def _type(jvm: JVMView, name: str):
    if "." in name:
        return getattr(jvm, f"{SQL}.types.ObjectType")(_class(jvm, name))
    return getattr(jvm, f"{SQL}.types.DataType").fromDDL(name)


def _class(jvm: JVMView, name: str):
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()  # Spark's own, which knows its jars
    return jvm.java.lang.Class.forName(name, True, loader)
