import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.internals.ProducerBatch;
import org.apache.kafka.clients.producer.internals.TransactionManager;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ProduceResponse;

/**
 * What the transaction manager of a released Java producer makes of each error of each of its requests, a line each:
 * "request, error, kind, exceptions", parts between tabs. Kind: retried, abortable, fatal; "thrown" where the call fails
 * and the producer is as before; "ignored" where it goes on as if nothing was.
 *
 * The manager is put into the state in which it sends the request, and its own handler is given an answer with the error.
 */
public class AskTransactions {
    private static final String INTERNALS = "org.apache.kafka.clients.producer.internals.TransactionManager";
    private static final String REQUESTS = "org.apache.kafka.common.requests.";
    private static final TopicPartition PLACE = new TopicPartition("t", 0);
    private static final String[] ASKED = {
        "InitProducerId", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn", "EndTxn (abort)",
        "Produce"
    };

    public static void main(String[] words) throws Exception {
        Errors[] errors = Errors.values();
        for (int i = 0; i < ASKED.length; i++) {
            for (int j = 0; j < errors.length; j++) {
                if (errors[j] != Errors.NONE) {
                    System.out.println(ASKED[i] + "\t" + errors[j].name() + "\t" + answered(ASKED[i], errors[j]));
                }
            }
        }
    }

    private static String answered(String request, Errors error) throws Exception {
        TransactionManager manager = manager();
        if (request.equals("Produce")) {
            return failedBatch(manager, error);
        }
        Object handler = null;
        if (request.equals("InitProducerId")) {
            state(manager, "UNINITIALIZED");
            Object[] fresh = has(manager, "initializeTransactions", new Object[] {})
                ? new Object[] {} : new Object[] {Boolean.FALSE};
            call(manager, "initializeTransactions", fresh);
        } else if (request.equals("AddPartitionsToTxn")) {
            Object[] place = new Object[] {PLACE};
            boolean isNamedShortly = has(manager, "maybeAddPartition", place);
            call(manager, isNamedShortly ? "maybeAddPartition" : "maybeAddPartitionToTransaction", place);
        } else if (request.equals("EndTxn")) {
            call(manager, "beginCommit", new Object[] {});
        } else if (request.equals("EndTxn (abort)")) {
            call(manager, "beginAbort", new Object[] {});
        } else {
            Map offsets = Collections.singletonMap(PLACE, new OffsetAndMetadata(7));
            call(manager, "sendOffsetsToTransaction", new Object[] {offsets, group(manager, offsets)});
            if (request.equals("TxnOffsetCommit")) {
                handle(next(manager), response("AddOffsetsToTxn", Errors.NONE));
            }
        }
        handler = next(manager);
        handle(handler, response(request.equals("EndTxn (abort)") ? "EndTxn" : request, error));
        Object result = read(handler, "result");
        boolean isDone = ((Boolean) call(result, "isCompleted", new Object[] {})).booleanValue();
        Throwable thrown = isDone ? (Throwable) call(result, "error", new Object[] {}) : null;
        String state = errorState(manager);
        if (state != null) {
            return state;
        }
        if (thrown != null) {
            return "thrown\t" + names(thrown);
        }
        return isDone ? "ignored\t" : "retried\t";
    }

    /** The name of a group; since 2.5 as a member knows it. */
    private static Object group(TransactionManager manager, Map offsets) throws Exception {
        if (has(manager, "sendOffsetsToTransaction", new Object[] {offsets, "g"})) {
            return "g";
        }
        Class type = Class.forName("org.apache.kafka.clients.consumer.ConsumerGroupMetadata");
        return type.getConstructor(new Class[] {String.class}).newInstance(new Object[] {"g"});
    }

    private static String errorState(TransactionManager manager) throws Exception {
        Throwable last = (Throwable) call(manager, "lastError", new Object[] {});
        if (((Boolean) call(manager, "hasFatalError", new Object[] {})).booleanValue()) {
            return "fatal\t" + names(last);
        }
        if (((Boolean) call(manager, "hasAbortableError", new Object[] {})).booleanValue()) {
            return "abortable\t" + names(last);
        }
        return null;
    }

    /** What becomes of a batch that is answered so: it is sent again, or it has failed. */
    private static String failedBatch(TransactionManager manager, Errors error) throws Exception {
        ProducerBatch batch = batch();
        Field book = field(manager, "topicPartitionBookkeeper");
        if (book != null && has(book.get(manager), "addPartition", new Object[] {PLACE})) {
            call(book.get(manager), "addPartition", new Object[] {PLACE});
        }
        call(manager, "sequenceNumber", new Object[] {PLACE});
        call(batch, "setProducerState", new Object[] {read(manager, "producerIdAndEpoch"), Integer.valueOf(0), Boolean.TRUE});
        call(manager, "addInFlightBatch", new Object[] {batch});
        Object answer = new ProduceResponse.PartitionResponse(error);
        boolean isRetriable = error.exception() instanceof RetriableException; // what the sender asks first, up to 2.4
        if (isRetriable || ((Boolean) call(manager, "canRetry", new Object[] {answer, batch})).booleanValue()) {
            return "retried\t";
        }
        call(manager, "handleFailedBatch", new Object[] {batch, error.exception(), Boolean.TRUE});
        String state = errorState(manager);
        return state == null ? "ignored\t" : state;
    }

    /** A batch of no record. Classes of records have moved with the releases: their constructors say where they are. */
    private static ProducerBatch batch() throws Exception {
        Constructor[] constructors = ProducerBatch.class.getConstructors();
        Constructor shortest = constructors[0];
        for (int i = 1; i < constructors.length; i++) {
            if (constructors[i].getParameterTypes().length < shortest.getParameterTypes().length) {
                shortest = constructors[i];
            }
        }
        String builder = shortest.getParameterTypes()[1].getName();
        Method[] all = Class.forName(builder.substring(0, builder.length() - "Builder".length())).getMethods();
        for (int i = 0; i < all.length; i++) {
            Class[] types = all[i].getParameterTypes();
            if (all[i].getName().equals("builder") && types.length == 4 && types[0] == ByteBuffer.class) {
                Object plain = types[1].getField("NONE").get(null);
                Object created = types[2].getField("CREATE_TIME").get(null);
                Object[] values = {ByteBuffer.allocate(512), plain, created, Long.valueOf(0)};
                Object records = all[i].invoke(null, values);
                return (ProducerBatch) shortest.newInstance(new Object[] {PLACE, records, Long.valueOf(0)});
            }
        }
        throw new IllegalStateException("no builder of records");
    }

    /** An object by its longest constructor, and what that needs by theirs. */
    private static Object made(Class type) throws Exception {
        Constructor[] all = type.getConstructors();
        Constructor longest = all[0];
        for (int i = 1; i < all.length; i++) {
            if (all[i].getParameterTypes().length > longest.getParameterTypes().length) {
                longest = all[i];
            }
        }
        Class[] types = longest.getParameterTypes();
        Object[] values = new Object[types.length];
        for (int i = 0; i < types.length; i++) {
            if (types[i] == String.class) {
                values[i] = "x";
            } else if (types[i] == int.class) {
                values[i] = Integer.valueOf(60000);
            } else if (types[i] == long.class) {
                values[i] = Long.valueOf(100);
            } else if (types[i] == boolean.class) {
                values[i] = Boolean.FALSE;
            } else {
                values[i] = made(types[i]);
            }
        }
        return longest.newInstance(values);
    }

    private static TransactionManager manager() throws Exception {
        TransactionManager manager = (TransactionManager) made(TransactionManager.class);
        state(manager, "IN_TRANSACTION");
        Constructor idAndEpoch = field(manager, "producerIdAndEpoch").getType().getDeclaredConstructors()[0];
        AccessibleObject.setAccessible(new AccessibleObject[] {idAndEpoch}, true);
        write(manager, "producerIdAndEpoch", idAndEpoch.newInstance(new Object[] {Long.valueOf(1), Short.valueOf((short) 0)}));
        write(manager, "transactionStarted", Boolean.TRUE);
        write(manager, "coordinatorSupportsBumpingEpoch", Boolean.TRUE);
        return manager;
    }

    private static void state(TransactionManager manager, String name) throws Exception {
        write(manager, "currentState", Enum.valueOf(Class.forName(INTERNALS + "$State"), name));
    }

    private static Object next(TransactionManager manager) throws Exception {
        Object[] values = {Boolean.FALSE};
        boolean isOld = has(manager, "nextRequestHandler", values);
        Object handler = call(manager, isOld ? "nextRequestHandler" : "nextRequest", values);
        if (handler == null) {
            throw new IllegalStateException("no request is to be sent");
        }
        return handler;
    }

    private static void handle(Object handler, Object response) throws Exception {
        call(handler, "handleResponse", new Object[] {response});
    }

    /** An answer of version 0 with an error. */
    private static Object response(String request, Errors error) throws Exception {
        ByteBuffer bytes = ByteBuffer.allocate(64);
        bytes.putInt(0);
        if (request.equals("AddPartitionsToTxn") || request.equals("TxnOffsetCommit")) {
            bytes.putInt(1).putShort((short) 1).put((byte) 't').putInt(1).putInt(0);
        }
        bytes.putShort(error.code());
        if (request.equals("InitProducerId")) {
            bytes.putLong(1).putShort((short) 0);
        }
        bytes.flip();
        Method[] all = Class.forName(REQUESTS + request + "Response").getMethods();
        for (int i = 0; i < all.length; i++) {
            Class[] types = all[i].getParameterTypes();
            if (all[i].getName().equals("parse") && types.length == 2 && types[1] == short.class) {
                Object readable = bytes;
                if (types[0] != ByteBuffer.class) {
                    Class accessor = Class.forName("org.apache.kafka.common.protocol.ByteBufferAccessor");
                    readable = accessor.getConstructor(new Class[] {ByteBuffer.class}).newInstance(new Object[] {bytes});
                }
                return all[i].invoke(null, new Object[] {readable, Short.valueOf((short) 0)});
            }
        }
        throw new IllegalStateException("no parse of " + request);
    }

    private static String names(Throwable error) {
        StringBuffer names = new StringBuffer(error.getClass().getSimpleName());
        for (Throwable cause = error.getCause(); cause != null; cause = cause.getCause()) {
            names.append(" < ").append(cause.getClass().getSimpleName());
        }
        return names.toString();
    }

    private static boolean has(Object object, String name, Object[] values) {
        return method(object.getClass(), name, values) != null;
    }

    private static Object call(Object object, String name, Object[] values) throws Exception {
        Method method = method(object.getClass(), name, values);
        if (method == null) {
            throw new NoSuchMethodException(object.getClass().getName() + "." + name);
        }
        AccessibleObject.setAccessible(new AccessibleObject[] {method}, true);
        return method.invoke(object, values);
    }

    private static Method method(Class type, String name, Object[] values) {
        for (Class each = type; each != null; each = each.getSuperclass()) {
            Method[] all = each.getDeclaredMethods();
            for (int i = 0; i < all.length; i++) {
                if (all[i].getName().equals(name) && fit(all[i].getParameterTypes(), values)) {
                    return all[i];
                }
            }
        }
        return null;
    }

    private static boolean fit(Class[] types, Object[] values) {
        boolean allFit = types.length == values.length;
        for (int i = 0; allFit && i < types.length; i++) {
            Class plain = values[i] instanceof Boolean ? boolean.class : values[i] instanceof Integer ? int.class : null;
            allFit = types[i] == plain || types[i].isInstance(values[i]);
        }
        return allFit;
    }

    private static Object read(Object object, String name) throws Exception {
        return field(object, name).get(object);
    }

    private static void write(Object object, String name, Object value) throws Exception {
        Field field = field(object, name);
        if (field != null) {
            field.set(object, value);
        }
    }

    private static Field field(Object object, String name) {
        for (Class each = object.getClass(); each != null; each = each.getSuperclass()) {
            Field[] all = each.getDeclaredFields();
            for (int i = 0; i < all.length; i++) {
                if (all[i].getName().equals(name)) {
                    AccessibleObject.setAccessible(new AccessibleObject[] {all[i]}, true);
                    return all[i];
                }
            }
        }
        return null;
    }
}
