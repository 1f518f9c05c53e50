import { program } from './reach-cap.ts'
import { short } from '../short.ts'

await short('reach-cap', program)
