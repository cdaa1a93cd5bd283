import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.NIOServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * A ZooKeeper and sessions of it that do what they are told: a line of input for each request, "SESSION request words"
 * with tabs between; a line of output with its result and what it brought, and a line "watches" with all watches that
 * have fired since the last one: session, path and type of the event.
 *
 * Requests: open, close, expire (the server ends the session behind the client's back), create (path, data,
 * ephemeral), delete (path, version), set (path, data, version), get, children and exists (path, watch).
 * Argument: a folder for the server's files.
 */
public class ToldZooKeeper {
    private static final int TICK_MS = 2000;
    private static final int PATIENCE_MS = 30000;
    private static final Map sessions = new HashMap();
    private static final List fired = Collections.synchronizedList(new ArrayList());
    private static String address;

    public static void main(String[] words) throws Exception {
        File folder = new File(words[0]);
        ZooKeeperServer server = new ZooKeeperServer(new File(folder, "snap"), new File(folder, "log"), TICK_MS);
        NIOServerCnxnFactory factory = new NIOServerCnxnFactory();
        factory.configure(new InetSocketAddress("127.0.0.1", 0), 0);
        factory.startup(server);
        address = "127.0.0.1:" + factory.getLocalPort();
        System.out.println("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String said;
            try {
                said = result(line.split("\t", -1));
            } catch (KeeperException error) {
                String name = error.getClass().getSimpleName();
                said = name.substring(0, name.length() - "Exception".length());
            }
            System.out.println(said);
            System.out.println("watches" + watches());
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static String result(String[] told) throws Exception {
        String name = told[0];
        String request = told[1];
        ZooKeeper session = (ZooKeeper) sessions.get(name);
        if (request.equals("open")) {
            ZooKeeper opened = new ZooKeeper(address, 10000, new Noter(name));
            sessions.put(name, opened);
            waitFor(opened, true);
        } else if (request.equals("close")) {
            session.close();
        } else if (request.equals("expire")) {
            ZooKeeper twin = new ZooKeeper(address, 10000, new Noter(null), session.getSessionId(), session.getSessionPasswd());
            waitFor(twin, true);
            twin.close();
            waitFor(session, false);
        } else if (request.equals("create")) {
            CreateMode mode = told[4].equals("true") ? CreateMode.EPHEMERAL : CreateMode.PERSISTENT;
            session.create(told[2], told[3].getBytes(), ZooDefs.Ids.OPEN_ACL_UNSAFE, mode);
        } else if (request.equals("delete")) {
            session.delete(told[2], Integer.parseInt(told[3]));
        } else if (request.equals("set")) {
            return "OK\t" + session.setData(told[2], told[3].getBytes(), Integer.parseInt(told[4])).getVersion();
        } else if (request.equals("get")) {
            Stat stat = new Stat();
            byte[] data = session.getData(told[2], told[3].equals("true"), stat);
            return "OK\t" + stat.getVersion() + "\t" + new String(data);
        } else if (request.equals("children")) {
            List children = new ArrayList(session.getChildren(told[2], told[3].equals("true")));
            Collections.sort(children);
            return "OK\t" + children.toString().replaceAll("[\\[\\] ]", "");
        } else if (request.equals("exists")) {
            Stat stat = session.exists(told[2], told[3].equals("true"));
            return stat == null ? "NoNode" : "OK\t" + stat.getVersion();
        } else {
            throw new IllegalArgumentException(request);
        }
        return "OK";
    }

    private static void waitFor(ZooKeeper session, boolean isConnected) throws Exception {
        long end = System.currentTimeMillis() + PATIENCE_MS;
        while (isConnected ? session.getState() != ZooKeeper.States.CONNECTED : session.getState().isAlive()) {
            if (System.currentTimeMillis() > end) {
                throw new IllegalStateException("session is " + session.getState());
            }
            Thread.sleep(5);
        }
    }

    /** Every session asks for something once more: its answer comes behind all that it is notified of. */
    private static String watches() throws Exception {
        for (Iterator each = sessions.values().iterator(); each.hasNext();) {
            ZooKeeper session = (ZooKeeper) each.next();
            if (session.getState().isAlive()) {
                session.exists("/", false);
            }
        }
        Thread.sleep(30);
        StringBuffer text = new StringBuffer();
        synchronized (fired) {
            for (Iterator each = fired.iterator(); each.hasNext();) {
                text.append('\t').append(each.next());
            }
            fired.clear();
        }
        return text.toString();
    }

    static class Noter implements Watcher {
        private final String name;

        Noter(String name) {
            this.name = name;
        }

        public void process(WatchedEvent event) {
            if (name != null && event.getType() != Watcher.Event.EventType.None) {
                fired.add(name + " " + event.getPath() + " " + event.getType());
            }
        }
    }
}
