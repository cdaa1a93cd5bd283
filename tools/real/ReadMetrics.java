import com.sun.tools.attach.VirtualMachine;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Reads metrics of a Java process on this machine. Argument: its process id. A line of input is a pattern of MBeans; the
 * answer is one line, for each that matches its canonical name and its Value, with tabs between all of them.
 */
public class ReadMetrics {
    public static void main(String[] words) throws Exception {
        VirtualMachine machine = VirtualMachine.attach(words[0]);
        String address = machine.startLocalManagementAgent();
        machine.detach();
        MBeanServerConnection server = JMXConnectorFactory.connect(new JMXServiceURL(address)).getMBeanServerConnection();
        System.out.println("ready");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            List found = new ArrayList();
            for (Iterator names = server.queryNames(new ObjectName(line), null).iterator(); names.hasNext();) {
                ObjectName name = (ObjectName) names.next();
                found.add(name.getCanonicalName() + "\t" + server.getAttribute(name, "Value"));
            }
            Collections.sort(found);
            StringBuffer text = new StringBuffer();
            for (Iterator each = found.iterator(); each.hasNext();) {
                text.append(text.length() == 0 ? "" : "\t").append(each.next());
            }
            System.out.println(text);
            System.out.flush();
        }
    }
}
