package display
import ("testing";"os";"noema/methods";"fmt";"math")
func TestZZ(t *testing.T){
 g:=methods.Graph{Kind:"lwt"}
 for i:=range 12 { g.Nodes=append(g.Nodes, methods.Node{ID:fmt.Sprintf("c%d",i),Layer:0,Value:"yes",State:"done",Text:"check {(context)}"}) }
 for i:=range 4 { st:="done"; if i==2 {st="failed"}; g.Nodes=append(g.Nodes, methods.Node{ID:fmt.Sprintf("a%d",i),Value:"True, because it is so and so on and on",State:st}); for k:=range 3 {g.Edges=append(g.Edges,methods.Edge{From:fmt.Sprintf("c%d",(i*3+k)),To:fmt.Sprintf("a%d",i)})}}
 g.Nodes=append(g.Nodes, methods.Node{ID:"final",Kind:"final",Value:"3,1,2",State:"done"})
 for i:=range 4 {g.Edges=append(g.Edges,methods.Edge{From:fmt.Sprintf("a%d",i),To:"final"})}
 g.Edges=append(g.Edges,methods.Edge{From:"c0",To:"final"})
 os.WriteFile("/tmp/disp/lwt.svg",Draw(g).Display()[SVG],0o644)
 tr:=methods.Graph{Kind:"tree",Nodes:[]methods.Node{{ID:"root",Label:"question"}}}
 for i:=1;i<20;i++ { tr.Nodes=append(tr.Nodes,methods.Node{ID:fmt.Sprint("n",i),Label:fmt.Sprint("n",i," topic 日本語のとても長いラベルです、本当に長い"),Value:"finding",State:"done"}); p:="root"; if i>3 {p=fmt.Sprint("n",i/3)}; tr.Edges=append(tr.Edges,methods.Edge{From:p,To:fmt.Sprint("n",i)})}
 tr.Edges=append(tr.Edges,methods.Edge{From:"n19",To:"n2",Kind:"link"})
 tr.Edges=append(tr.Edges,methods.Edge{From:"n12",To:"n13",Kind:"link"})
 os.WriteFile("/tmp/disp/tree.svg",Draw(tr).Display()[SVG],0o644)
 fmt.Println(Draw(tr).Text())
 big:=methods.Graph{Kind:"lwt"}
 for i:=range 60 { big.Nodes=append(big.Nodes,methods.Node{ID:fmt.Sprintf("i%d.c%d",i/3,i%3),State:"done",Value:"True"}); big.Edges=append(big.Edges,methods.Edge{From:fmt.Sprintf("i%d.c%d",i/3,i%3),To:fmt.Sprintf("and%d",i/3)}) }
 for i:=range 20 { big.Nodes=append(big.Nodes,methods.Node{ID:fmt.Sprintf("and%d",i),State:"done",Value:"True"}); big.Edges=append(big.Edges,methods.Edge{From:fmt.Sprintf("and%d",i),To:"rank"}) }
 big.Nodes=append(big.Nodes,methods.Node{ID:"rank",Kind:"final",State:"pending"})
 os.WriteFile("/tmp/disp/big.svg",Draw(big).Display()[SVG],0o644)
 p:=Plot{Title:"accuracy and step error",X:Axis{Label:"step error"},Y:Axis{Label:"accuracy",Max:1},Series:[]Series{
 {"anot",[]Point{{X:0,Y:.95,Low:.9,High:.99,Label:"anot"},{X:.1,Y:.7,Low:.6,High:.8},{X:.2,Y:.5,Low:.4,High:.6}}},
 {"cot",[]Point{{X:0,Y:.9,Low:.8,High:.95,Label:"cot"},{X:.1,Y:.6,Low:.55,High:.7},{X:.2,Y:.55,Low:.5,High:.6}}}}}
 for i,s:=range []Style{Lines,Dots,Bars}{p.Style=s; if s==Bars {for a:=range p.Series{for b:=range p.Series[a].Points{p.Series[a].Points[b].Label=fmt.Sprintf("group %d",b)}}}; b:=p.Display(); os.WriteFile(fmt.Sprintf("/tmp/disp/plot%d.png",i),b[PNG],0o644); os.WriteFile(fmt.Sprintf("/tmp/disp/plot%d.svg",i),b[SVG],0o644)}
 q:=Plot{Style:Dots,Title:"pareto",X:Axis{Label:"tokens",Log:true},Y:Axis{Label:"accuracy",Max:1}}
 for i,n:=range []string{"anot","cot","io","plan-and-solve","self-consistency","general-anot"} { x:=100*math.Pow(3,float64(i)); q.Series=append(q.Series,Series{n,[]Point{{X:x,XLow:x*.5,XHigh:x*1.8,Y:.3+.13*float64(i),Low:.2+.13*float64(i),High:.35+.13*float64(i),Label:n}}})}
 os.WriteFile("/tmp/disp/plot3.png",q.Display()[PNG],0o644)
}
